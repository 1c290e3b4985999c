package reducer

// OpenTurn says whether any turn is open.
func (r *Reducer) OpenTurn() bool { return r.s.OpenTurn() }
