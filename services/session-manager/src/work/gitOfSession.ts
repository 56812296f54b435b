/** How git is asked about the folder of a session. */
import { childEnvironment, type GitOptions } from "@reprise/process"

/**
 * A session works at the top of a working tree. Where a command has removed or broken its `.git`, the repository around it, such
 * as that of a worktree inside of it, has another history and other files.
 */
export const gitOfSession = (timeoutMs: number): GitOptions => ({
  environment: childEnvironment(process.env),
  isTop: true,
  timeoutMs
})
