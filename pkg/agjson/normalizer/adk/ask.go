package adk

import (
	"bytes"
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// The calls by which the SDK itself asks a person. Nobody but the asked one answers them, so they are asks and not calls.
const (
	requestConfirmation = "adk_request_confirmation"
	requestCredential   = "adk_request_credential"
	requestInput        = "adk_request_input" // which the model may call: a tool
)

// request is a call by which the SDK asks, with the call it asks for.
type request struct {
	id    string
	call  string
	kind  agjson.AskKind
	value agjson.Value // the confirmation, or the AuthConfig
}

// requested takes a call by which the SDK asks; false where it is none.
func (f *facet) requested(id, name string, fc agjson.Value) bool {
	args := fc.Get("args")
	r := request{id: id}
	switch name {
	case requestConfirmation:
		r.kind, r.call, r.value = agjson.AskKindApproval, args.Path("originalFunctionCall", "id").Str(), args.Get("toolConfirmation")
	case requestCredential:
		r.kind, r.call, r.value = agjson.AskKindAuth, either(args, "function_call_id", "functionCallId").Str(), either(args, "auth_config", "authConfig")
	}
	if id == "" || r.call == "" || r.value.Kind() != agjson.KindObject {
		return false
	}
	f.requests = append(f.requests, r)
	return true
}

// either is the member that goes by one of two spellings.
func either(v agjson.Value, a, b string) agjson.Value {
	if m := v.Get(a); m.Exists() {
		return m
	}
	return v.Get(b)
}

// asked says what an event asks of people: the two maps from call to request, and the SDK's own calls for them, of which one
// comes with the map and the other before it (SPEC §8 items 12 and 18).
func (f *facet) asked(l *lane, ev *event) {
	for id, c := range ev.actions.Get("requestedAuthConfigs").Members {
		f.askAuth(l, id, f.requestOf(id), c)
	}
	for id, c := range ev.actions.Get("requestedToolConfirmations").Members {
		f.askApproval(l, id, f.requestOf(id), c)
	}
	for _, r := range f.requests {
		if r.kind == agjson.AskKindAuth {
			f.askAuth(l, r.call, r.id, r.value)
		} else {
			f.askApproval(l, r.call, r.id, r.value)
		}
	}
}

// requestOf is the id of the SDK's call of this frame for a call; "" without one.
func (f *facet) requestOf(call string) string {
	for _, r := range f.requests {
		if r.call == call {
			return r.id
		}
	}
	return ""
}

func (f *facet) askApproval(l *lane, call, request string, c agjson.Value) {
	f.ask(l, agjson.PausedAsk{
		AskID: "approval_" + call, Kind: agjson.AskKindApproval, ToolCallID: f.callID(call), Message: c.Get("hint").StrPtr(),
		Metadata: normalizer.Object(append(without(c, "hint"), requestMember(request)...)...),
	}, "")
}

func (f *facet) askAuth(l *lane, call, request string, c agjson.Value) {
	if !c.Set() {
		return
	}
	f.ask(l, agjson.PausedAsk{
		AskID: "auth_" + call, Kind: agjson.AskKindAuth, ToolCallID: f.callID(call), AuthConfig: authConfig(c),
		URL:      c.Path("exchangedAuthCredential", "oauth2", "authUri").StrPtr(),
		Metadata: normalizer.Object(append([]agjson.Member{{Name: "authConfig", Value: c.Raw()}}, requestMember(request)...)...),
	}, string(c.Raw()))
}

// callID is the id under which a call was said.
func (f *facet) callID(id string) *string {
	if c := f.known[id]; c != nil {
		return new(c.id)
	}
	return new(strings.Clone(id))
}

// requestMember names the SDK's call, by whose id the answer must go back.
func requestMember(id string) []agjson.Member {
	if id == "" {
		return nil
	}
	return []agjson.Member{{Name: "adk/functionCallId", Value: agjson.Quote(id)}}
}

// askLong says that a long-running tool waits for a result from outside. What the SDK's own tool asks of a person is known.
func (f *facet) askLong(l *lane, c *call, id string, args agjson.Value) {
	a := agjson.PausedAsk{AskID: strings.Clone(id), Kind: agjson.AskKindForm, ToolCallID: new(c.id)}
	if c.name == requestInput {
		schema := either(args, "response_schema", "responseSchema")
		a.Message, a.Schema = args.Get("message").StrPtr(), schema.RawSet()
		if a.Schema == nil {
			a.Kind = agjson.AskKindText
		}
		a.Metadata = normalizer.Object(without(args, "message", "response_schema", "responseSchema")...)
	} else {
		a.Reason = new("long-running")
	}
	f.ask(l, a, "")
}

// ask says an ask once, and again where its config is another.
func (f *facet) ask(l *lane, a agjson.PausedAsk, config string) {
	i := slices.IndexFunc(f.asks, func(x agjson.PausedAsk) bool { return x.AskID == a.AskID })
	switch {
	case i < 0:
		f.asks = append(f.asks, a)
	case f.configs[a.AskID] == config:
		return
	default:
		f.asks[i] = a
	}
	if f.configs == nil {
		f.configs = map[string]string{}
	}
	f.configs[a.AskID] = config
	f.Emit(agjson.Event{TurnID: l.turn, Body: &agjson.HitlAsk{
		AskID: a.AskID, Kind: a.Kind, Message: a.Message, Schema: a.Schema, AuthConfig: a.AuthConfig, URL: a.URL,
		ToolCallID: a.ToolCallID, Reason: a.Reason, Metadata: a.Metadata,
	}})
}

// asks says whether the event asks a person for a call.
func (ev *event) asks(call string) bool {
	return ev.actions.Path("requestedAuthConfigs", call).Set() || ev.actions.Path("requestedToolConfirmations", call).Set()
}

// settle drops the asks of a call that has its result.
func (f *facet) settle(call string) {
	f.asks = slices.DeleteFunc(f.asks, func(a agjson.PausedAsk) bool { return *a.ToolCallID == call })
}

// answersRequest drops the ask that a response to the SDK's own call answers, and says whether it is one.
func (f *facet) answersRequest(id, name string) bool {
	if name != requestConfirmation && name != requestCredential {
		return false
	}
	tail := append(append([]byte(`"adk/functionCallId":`), agjson.Quote(id)...), '}')
	f.asks = slices.DeleteFunc(f.asks, func(a agjson.PausedAsk) bool { return bytes.HasSuffix(a.Metadata, tail) })
	return true
}

// authConfig is the flat form of an AuthConfig; nil where the scheme configures nothing. The whole of it rides the ask's metadata.
func authConfig(c agjson.Value) *agjson.AuthConfig {
	scheme := c.Get("authScheme")
	typ := scheme.Get("type")
	if typ.Kind() != agjson.KindString {
		return nil
	}
	a := &agjson.AuthConfig{Scheme: typ.Str()}
	flow := scheme
	for _, x := range scheme.Get("flows").Members {
		flow = x
		break
	}
	a.AuthorizationURL = either(flow, "authorizationUrl", "authorizationEndpoint").StrPtr()
	a.TokenURL = either(flow, "tokenUrl", "tokenEndpoint").StrPtr()
	for name := range flow.Get("scopes").Members {
		a.Scopes = append(a.Scopes, name)
	}
	for _, s := range flow.Get("scopes").Items {
		if s.Kind() == agjson.KindString {
			a.Scopes = append(a.Scopes, s.Str())
		}
	}
	for _, from := range []string{"exchangedAuthCredential", "rawAuthCredential"} {
		o := c.Path(from, "oauth2")
		if a.ClientID == nil {
			a.ClientID = o.Get("clientId").StrPtr()
		}
		if a.Audience == nil {
			a.Audience = o.Get("audience").StrPtr()
		}
	}
	if typ.Str() == "oauth2" && a.AuthorizationURL == nil && a.TokenURL == nil && a.ClientID == nil {
		return nil
	}
	return a
}
