/** The actors of the five services: what makes decisions and answers queries. They take long to load. */
import * as gate from "@reprise/gate"
import * as orchestrator from "@reprise/orchestrator"
import * as reviewer from "@reprise/reviewer"
import * as sessionManager from "@reprise/session-manager"
import * as workspace from "@reprise/workspace"
import { Layer } from "effect"
import { sessionSettings } from "../config/serviceOptions.ts"
import { asItself } from "./broker/ServiceBrokers.ts"
import type { SystemOptions } from "./SystemOptions.ts"

/** Neither touch a working tree nor agents, nor do they notify anybody. */
export const deciders = Layer.mergeAll(
  asItself("orchestrator", orchestrator.layer),
  asItself("reviewer", reviewer.layer)
)

/** Make decisions and answer queries; need neither the working tree nor agents. */
export const actors = ({ settings }: SystemOptions) =>
  Layer.mergeAll(
    deciders,
    asItself("gate", gate.actorsWith({ ...settings.notify, channels: Object.keys(settings.notify.channels) })),
    asItself("session-manager", sessionManager.actorsWith(sessionSettings(settings))),
    asItself("workspace", workspace.actors)
  )
