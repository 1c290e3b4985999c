// Command agwire is the whole system in one binary, a subcommand for each service
// and each tool: agwire help lists them, agwire help COMMAND tells all about one.
//
// A subcommand is one file with one function that returns its [command]: its
// settings, and the function that turns them into dependencies and runs a service
// or a tool with them. It holds no logic of its own. To add one, write the file and
// add its line to commands:
//
//	func reduceCommand() command {
//		return command{
//			name:    "reduce",
//			summary: "fold events into snapshots",
//			signals: true,
//			setup: func(set *config.Set) runFunc {
//				shell := app.DefaultConfig("127.0.0.1:8083")
//				var cfg reduce.Config
//				set.Add("Reduce", cfg.Settings()...)
//				set.Add("Process", shell.Settings()...)
//				return func(ctx context.Context, p *process, args []string) error {
//					sh, err := p.newShell(shell)
//					… open dependencies, defer their Close, reduce.New …
//					if err := sh.app.Add("reduce", svc); err != nil {
//						return err
//					}
//					return sh.run(ctx)
//				}
//			},
//		}
//	}
//
// Exit codes: 0 is success, 1 a failure, 2 bad usage or settings, 3 work left
// undone when the drain budget was over, 128 and more a second signal. agwire exec
// passes on the status of the program it ran.
package main
