/** Runs a plan in this process, or follows the process that does. What follows it is loaded beside the agents' start. */
import { defined, type RunId } from "@reprise/protocol"
import { Effect, Ref } from "effect"
import { isBrokerLost } from "../../system/broker/BrokerLost.ts"
import { hostingSystem } from "../../system/System.ts"
import type { SystemOptions } from "../../system/SystemOptions.ts"
import { say } from "../../terminal/Printer.ts"
import type { PlanExecution } from "./followPlan.ts"

/** Loaded where the system is there, so beside the start of the agents' server. */
const follow = (execution: PlanExecution, followed: Ref.Ref<RunId | undefined>) =>
  Effect.flatMap(
    Effect.promise(() => import("./followPlan.ts")),
    ({ followPlan }) => followPlan(execution, followed)
  )

/**
 * Returns the exit code (docs/design/protocol.md#the-command-line); fails with a `CliFailure` if something the run needs
 * is missing. When another process did the work and ends, this one takes over.
 */
export const startOrContinueRun = Effect.fn("startOrContinueRun")(function* (execution: PlanExecution) {
  const { config, openCodeEnvironment, project } = execution
  const options: SystemOptions = {
    project,
    settings: config.settings,
    ...defined({ openCodeEnvironment })
  }
  const followed = yield* Ref.make<RunId | undefined>(undefined)
  const system = hostingSystem(options)
  return yield* follow(execution, followed).pipe(
    Effect.provide(system),
    Effect.tapError((error) =>
      Effect.sync(() => {
        if (isBrokerLost(error) && !execution.json) say("The process that did the work has ended; continuing here.")
      })
    ),
    Effect.retry({ while: isBrokerLost })
  )
})
