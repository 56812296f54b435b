/** The log of what a command does. */
import { join } from "node:path"
import { onDisk } from "@reprise/nats"
import { makePino, telemetry } from "@reprise/observability"
import { Effect, Layer } from "effect"
import { prepareState } from "../project/stateOrigin.ts"
import type { SystemOptions } from "./SystemOptions.ts"

/** Fails if the project's state folder is not this machine's own, or not writable: nothing writes to it before this. */
export const logging = ({ project, settings: { log } }: SystemOptions) =>
  Layer.unwrap(
    prepareState(project).pipe(
      Effect.andThen(
        onDisk(project.directory, async () => makePino(join(project.directory, "logs", "reprise.log"), log.level))
      ),
      Effect.map((logger) => telemetry("reprise", logger, log.level))
    )
  )
