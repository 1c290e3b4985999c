package agjson

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
