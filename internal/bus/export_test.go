package bus

// Assign is assign, for its test.
var Assign = assign
