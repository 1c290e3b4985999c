package vercel

import "github.com/agwire/agwire/pkg/agjson"

// bag is a part's providerMetadata or toolMetadata as it came; nil when there is none, or no object to fold.
func bag(v agjson.Value) agjson.Opaque {
	if v.Kind() != agjson.KindObject || v.Len() == 0 {
		return nil
	}
	return agjson.Opaque(v.Raw())
}

// blob is one provider-bound part of reasoning (SPEC §2 AgOpaque).
type blob struct {
	kind     agjson.OpaqueKind
	value    string
	provider string
}

// sealed is what the providerMetadata of a reasoning part holds, by the carriers that the specification has for it.
type sealed struct {
	blobs  []blob
	itemID *string       // OpenAI's rs_… (SPEC §10.4)
	rest   agjson.Opaque // the bag whole, when it holds more than blobs and an item id
}

// unseal takes a reasoning part's providerMetadata apart. Anthropic (and Bedrock) sign with `signature` or redact to
// `redactedData`, Google signs with `thoughtSignature`, OpenAI encrypts to `reasoningEncryptedContent`.
func unseal(meta agjson.Value) sealed {
	var s sealed
	if meta.Kind() != agjson.KindObject {
		return s
	}
	more := false
	for provider, of := range meta.Members {
		if of.Kind() != agjson.KindObject {
			more = true
			continue
		}
		for key, v := range of.Members {
			text := v.StrPtr()
			kind := blobKind(key)
			switch {
			case text == nil:
				more = true
			case kind != "":
				s.blobs = append(s.blobs, blob{kind, *text, provider})
			case key == "itemId":
				s.itemID = text
			default:
				more = true
			}
		}
	}
	if more {
		s.rest = bag(meta)
	}
	return s
}

func blobKind(key string) agjson.OpaqueKind {
	switch key {
	case "signature", "thoughtSignature":
		return agjson.OpaqueKindSignature
	case "redactedData":
		return agjson.OpaqueKindRedacted
	case "reasoningEncryptedContent":
		return agjson.OpaqueKindEncrypted
	}
	return ""
}

// member is the first string called key that any provider's part of the bag has.
func member(meta agjson.Value, key string) *string {
	for _, of := range meta.Members {
		if s := of.Get(key).StrPtr(); s != nil {
			return s
		}
	}
	return nil
}
