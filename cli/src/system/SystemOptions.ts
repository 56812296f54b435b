/** What the parts of the system that a command uses are made from. */
import type { AgentRuntimes } from "@reprise/agent"
import { Context, Effect, type Layer } from "effect"
import type { Settings } from "../config/settingsTable.ts"
import type { Project } from "../project/Project.ts"

/** Whoever types a command: somebody at the gate, or who removes and repairs what is stored. */
export type ClientIdentity = "person" | "operator"

export interface SystemOptions {
  readonly project: Project
  readonly settings: Settings
  /** URL of a NATS server whose services do the work; else `nats.url` of the settings. */
  readonly nats?: string
  /** The command waits for events: a broker is started even if none ever ran here. */
  readonly lasting?: boolean
  /** Added to OpenCode's environment. */
  readonly openCodeEnvironment?: Readonly<Record<string, string>>
  /** Start OpenCode when an agent is needed. Default: at once, so that it is ready in time. */
  readonly lazyAgents?: boolean
  /** Replaces the runtimes OpenCode and Claude. */
  readonly runtimes?: Layer.Layer<AgentRuntimes>
  /** The name of this host in subjects. Default: local. */
  readonly host?: string
  /** The port of the web console that this process serves to its machine; absent: none, or it is not known yet. */
  readonly consolePort?: number
  /** This process serves the web console of its repository. */
  readonly servesConsole?: boolean
  /** As whom the command talks to the broker, besides the services that it runs. Default: a person. */
  readonly identity?: ClientIdentity
}

/** The repository whose agents' sessions may be looked into; undefined: only what was saved of them may be read. */
export const VisitedRepository = Context.Reference<Effect.Effect<SystemOptions | undefined>>("cli/VisitedRepository", {
  defaultValue: () => Effect.succeed(undefined)
})

export const serverUrl = ({ nats, settings }: SystemOptions): string | undefined => nats ?? settings.nats.url

/** Whether the broker is a server that others run. */
export const usesRemote = (options: SystemOptions): boolean => serverUrl(options) !== undefined
