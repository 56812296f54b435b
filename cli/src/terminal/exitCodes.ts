/** How each command ends (docs/design/protocol.md#the-command-line). */
export const exitCodes = {
  done: 0,
  runFailed: 1,
  wrongUse: 2,
  missing: 3,
  waiting: 4,
  aborted: 5,
  interrupted: 130,
  terminated: 143
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
