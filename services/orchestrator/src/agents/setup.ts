/** Where and as whom an agent works. */
import { type AgentChoice, anyHost, defined } from "@reprise/protocol"
import type { Run } from "../run/state.ts"

/** Where an agent works, on which runtime, with which model and with which permissions. */
export const agentSetup = (run: Run, { model, runtime, variant }: AgentChoice) => ({
  directory: run.directory ?? run.request.workspace,
  host: run.host ?? anyHost,
  runtime,
  ...defined({ model, variant }),
  permissions: run.request.options.permissions
})
