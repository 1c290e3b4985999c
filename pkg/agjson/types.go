package agjson

import "slices"

type typeProfile struct {
	Name    string
	Profile Profile
}

// Types lists the type of every event of the specification, ext.* aside, in the order of its §4.
func Types() []string { return names(eventProfiles) }

// BlockTypes lists the type of every content block (SPEC §2).
func BlockTypes() []string { return names(blockProfiles) }

func names(list []typeProfile) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.Name
	}
	return out
}

// TypeProfile is the smallest profile (SPEC §9) that has the event type; "" for a type that is not of the specification.
func TypeProfile(eventType string) Profile { return profileOf(eventProfiles, eventType) }

// BlockProfile is the smallest profile (SPEC §9) that has the block type; "" for a type that is not of the specification.
func BlockProfile(blockType string) Profile { return profileOf(blockProfiles, blockType) }

func profileOf(list []typeProfile, name string) Profile {
	if i := slices.IndexFunc(list, func(t typeProfile) bool { return t.Name == name }); i >= 0 {
		return list[i].Profile
	}
	return ""
}
