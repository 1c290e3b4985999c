// Package wait pauses. It knows no retries and no schedules: whoever waits decides how long and how often.
package wait
