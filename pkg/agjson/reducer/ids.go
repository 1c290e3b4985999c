package reducer

// Block says whether a streamed block of the id is there.
func (s *Structure) Block(id string) bool { return s.blocks[id] != nil }
