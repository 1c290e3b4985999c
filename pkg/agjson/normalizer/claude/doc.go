// Package claude maps the messages of the Claude Agent SDK (the SDKMessage union of query(), the stream-json output of the Claude
// Code CLI) to AgJSON events. It knows both modes: whole messages, and partial ones (includePartialMessages), in which the
// whole message only confirms what was streamed.
//
// What becomes what:
//
//	assistant, stream_event   message, text, reasoning with its signature, tool calls; server tools with their results
//	user with tool_result     tool.done, adopted by <toolCallId>:result (SPEC §8 item 15)
//	parent_tool_use_id        a nested turn, from its first frame to the spawning call's result (SPEC §8 item 16)
//	user text of a subagent   a message of the user in the nested turn
//	result                    the turn's one terminal; the next content opens the query's next turn
//	permission_denials        outcome denied at the call's result, or the carrier <turnId>:denials (SPEC §8 item 15)
//	supersedes, retracted …   message.remove (SPEC §8 item 19); abandoned_blocks likewise
//	informational             ext.anthropic.informational (SPEC §8 item 21)
//	api error frames          held until the result, which is the one terminal
//	everything else           ext.anthropic.frame (SPEC §8 item 22)
//
// Usage is cumulative and stays so (SPEC §8 item 4). Terminals are honest: is_error, terminal_reason and stop_reason together say how a
// turn ended, whatever the subtype says.
//
// Left out, for they say nothing that the events do not: uuid, session_id, request_id and timestamp of a frame, and the stream's ping.
package claude
