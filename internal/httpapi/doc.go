// Package httpapi is what the services' HTTP interfaces have in common: how an answer and an error look.
//
// An error is {"error":{"code":"…","message":"…"}} with a fitting status. The code is one of a closed set that a program may
// branch on; the message is for people and never holds content.
package httpapi
