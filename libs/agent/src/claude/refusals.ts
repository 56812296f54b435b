/** Why the runtime does nothing of what was asked, with the next step. */
import { AgentError } from "../AgentError.ts"

export const fault = (operation: string) => (error: { readonly message: string }) =>
  new AgentError({ kind: "other", operation, detail: error.message, sessionUsable: true })

export const gone = (operation: string) => (error: { readonly message: string }) =>
  new AgentError({ kind: "runtime_gone", operation, detail: error.message, sessionUsable: true })

export const missing = (operation: string, id: string) =>
  new AgentError({
    kind: "session_missing",
    operation,
    detail: `Claude has no session ${id}. Start a new one.`,
    sessionUsable: false
  })

export const unsafe = (operation: string) =>
  new AgentError({
    kind: "other",
    operation,
    detail:
      "Claude is not run as root with all permissions outside a sandbox. Set IS_SANDBOX=1 where this machine is one, run as another user, or use --permissions workspace.",
    sessionUsable: true
  })

export const busy = (id: string) =>
  new AgentError({
    kind: "busy",
    operation: "prompt",
    detail: `Another turn runs in session ${id}. Wait until it is idle, or abort it.`,
    sessionUsable: true
  })
