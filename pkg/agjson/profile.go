package agjson

import "strconv"

// typeProfile is a type and the smallest profile that has it.
type typeProfile struct {
	Name    string
	Profile Profile
}

// TypeProfile is the smallest profile (SPEC §9) that has the event type; "" for a type that is not of the specification.
func TypeProfile(eventType string) Profile { return profileOf(eventProfiles, eventType) }

// BlockProfile is the smallest profile (SPEC §9) that has the block type; "" for a type that is not of the specification.
func BlockProfile(blockType string) Profile { return profileOf(blockProfiles, blockType) }

func profileOf(list []typeProfile, name string) Profile {
	for i := range list {
		if list[i].Name == name {
			return list[i].Profile
		}
	}
	return ""
}

// rank orders the profiles, each within the next; "", that no profile has, comes last.
func (p Profile) rank() int {
	switch p {
	case ProfileCORE:
		return 1
	case ProfileEXTENDED:
		return 2
	case ProfileADVANCED:
		return 3
	}
	return 4
}

// Covers says whether an implementation of p has all of q (SPEC §9). What no profile has, "", is covered by none.
func (p Profile) Covers(q Profile) bool { return q.rank() < 4 && q.rank() <= p.rank() }

// ProfileError says what of an event is beyond a profile.
type ProfileError struct {
	Need Profile // the smallest profile that has it; "" when none has
	Path string  // JSON Pointer of the first such place; "" = the event's type
}

// Error names the profile and the place.
func (e *ProfileError) Error() string {
	need, at := string(e.Need), e.Path
	if need == "" {
		need = "no known profile"
	}
	if at == "" {
		at = "(type)"
	}
	return "agjson: " + need + " needed at " + at
}

// Admit is the refusal of SPEC §9's refuse-or-passthrough: nil when p has everything in the event, else a *ProfileError.
// Passing through is what Decode and AppendEvent do with any event: they drop nothing, whatever the profile. What an
// implementation may not do is to take the event and forget the rest. An event whose whole type is beyond p (Path is "")
// may be ignored instead (SPEC §0.2).
func (p Profile) Admit(ev *Event) error {
	n := need{most: ProfileCORE}
	n.event(ev)
	if p.Covers(n.most) {
		return nil
	}
	return &ProfileError{Need: n.most, Path: n.path}
}

// ProfileOf is the smallest profile (SPEC §9) that has everything in the event: its type, the kinds of its blocks at every
// depth, the channels of its results, usage, safety, citations. It is "" when something in it is of no known kind. A
// vendor's event is of every profile, so CORE. A stream needs the largest one of its events; see Covers.
func ProfileOf(ev *Event) Profile {
	n := need{most: ProfileCORE}
	n.event(ev)
	return n.most
}

// need is the largest profile seen so far, and the first place of it.
type need struct {
	most Profile
	path string
}

func (n *need) add(p Profile, path string) {
	if p.rank() > n.most.rank() {
		n.most, n.path = p, path
	}
}

func (n *need) addIf(there bool, p Profile, path string) {
	if there {
		n.add(p, path)
	}
}

func (n *need) event(ev *Event) {
	if _, ok := ev.Body.(*Ext); !ok && ev.Body != nil {
		n.add(TypeProfile(ev.Body.Type()), "")
	}
	switch b := ev.Body.(type) {
	case *TurnDone:
		n.outcome(b.Outcome, "/outcome")
		n.finish(b.FinishReason, "/finishReason")
		n.addIf(b.Usage != nil, ProfileEXTENDED, "/usage")
		n.addIf(b.Safety != nil, ProfileEXTENDED, "/safety")
	case *TurnError:
		n.addIf(b.Usage != nil, ProfileEXTENDED, "/usage")
	case *MessageEnd:
		n.addIf(b.Usage != nil, ProfileEXTENDED, "/usage")
	case *TextEnd:
		n.addIf(b.Citations != nil, ProfileEXTENDED, "/citations")
	case *ToolDone:
		n.blocks(b.Content, "/content/")
		n.result(ToolResultBlock{
			StructuredContent: b.StructuredContent, UIData: b.UIData, SideData: b.SideData, ErrorText: b.ErrorText,
			ErrorCode: b.ErrorCode, ProviderMetadata: b.ProviderMetadata, ToolMetadata: b.ToolMetadata, Dynamic: b.Dynamic,
			PendingInput: b.PendingInput, IsError: b.IsError, Preliminary: b.Preliminary,
		}, "")
		n.addIf(b.More != nil, ProfileEXTENDED, "/more")
		n.addIf(b.SkipSummarization != nil, ProfileEXTENDED, "/skipSummarization")
	case *ContentBlock:
		n.block(b.Block, "/block")
	case *ArtifactDelta:
		n.block(b.Part, "/part")
	case *MessagesSnapshot:
		n.snapshot(b)
	}
}

// finish: SPEC §9 puts "the finishReason superset" into EXTENDED and does not say of what; CORE has the reasons that its own
// events can lead to.
func (n *need) finish(r FinishReason, path string) {
	switch r {
	case "", FinishReasonStop, FinishReasonTokenLimit, FinishReasonToolCall, FinishReasonOther, FinishReasonUnknown:
	default:
		n.add(ProfileEXTENDED, path)
	}
}

func (n *need) outcome(o Outcome, path string) {
	switch o.(type) {
	case *PausedOutcome:
		n.add(ProfileEXTENDED, path)
	case *UnknownOutcome:
		n.add("", path)
	}
}

func (n *need) blocks(list []Block, path string) {
	for i, b := range list {
		n.block(b, path+strconv.Itoa(i))
	}
}

func (n *need) block(b Block, path string) {
	if b == nil {
		return
	}
	n.add(BlockProfile(b.Type()), path)
	switch b := b.(type) {
	case *TextBlock:
		n.addIf(b.Citations != nil, ProfileEXTENDED, path+"/citations")
	case *ToolResultBlock:
		n.blocks(b.Content, path+"/content/")
		n.result(*b, path)
	}
}

// result: in CORE a tool-result carries content and outcome only.
func (n *need) result(b ToolResultBlock, path string) {
	n.addIf(b.StructuredContent != nil, ProfileADVANCED, path+"/structuredContent")
	n.addIf(b.UIData != nil, ProfileADVANCED, path+"/uiData")
	n.addIf(b.SideData != nil, ProfileADVANCED, path+"/sideData")
	n.addIf(b.ErrorText != nil, ProfileEXTENDED, path+"/errorText")
	n.addIf(b.ErrorCode != nil, ProfileEXTENDED, path+"/errorCode")
	n.addIf(b.ProviderMetadata != nil, ProfileEXTENDED, path+"/providerMetadata")
	n.addIf(b.ToolMetadata != nil, ProfileEXTENDED, path+"/toolMetadata")
	n.addIf(b.Dynamic != nil, ProfileEXTENDED, path+"/dynamic")
	n.addIf(b.PendingInput != nil, ProfileEXTENDED, path+"/pendingInput")
	n.addIf(b.IsError != nil, ProfileEXTENDED, path+"/isError")
	n.addIf(b.Preliminary != nil, ProfileEXTENDED, path+"/preliminary")
}

// snapshot: what a container holds is of the profile of the events that fill it.
func (n *need) snapshot(b *MessagesSnapshot) {
	for i := range b.Messages {
		m, path := &b.Messages[i], "/messages/"+strconv.Itoa(i)
		n.addIf(m.Usage != nil, ProfileEXTENDED, path+"/usage")
		n.blocks(m.Content, path+"/content/")
	}
	for i := range b.Turns {
		n.turn(&b.Turns[i], "/turns/"+strconv.Itoa(i))
	}
	n.addIf(len(b.Artifacts) > 0, ProfileADVANCED, "/artifacts/0")
	n.addIf(len(b.Memory) > 0, ProfileEXTENDED, "/memory/0")
}

func (n *need) turn(t *TurnRecord, path string) {
	n.outcome(t.Outcome, path+"/outcome")
	n.finish(t.FinishReason, path+"/finishReason")
	n.addIf(t.ParentTurnID != nil, ProfileEXTENDED, path+"/parentTurnId")
	n.addIf(t.Usage != nil, ProfileEXTENDED, path+"/usage")
	n.addIf(t.Safety != nil, ProfileEXTENDED, path+"/safety")
	n.addIf(len(t.Handoffs) > 0, ProfileEXTENDED, path+"/handoffs")
	n.addIf(len(t.SourceIDs) > 0, ProfileEXTENDED, path+"/sourceIds")
	n.addIf(len(t.Sources) > 0, ProfileEXTENDED, path+"/sources")
	n.addIf(len(t.Asks) > 0, ProfileEXTENDED, path+"/asks")
	n.addIf(len(t.Guardrails) > 0, ProfileEXTENDED, path+"/guardrails")
	n.addIf(t.PromptBlocked != nil, ProfileADVANCED, path+"/promptBlocked")
	n.addIf(len(t.DisplayRequired) > 0, ProfileADVANCED, path+"/displayRequired")
	n.addIf(t.Capabilities != nil, ProfileADVANCED, path+"/capabilities")
}
