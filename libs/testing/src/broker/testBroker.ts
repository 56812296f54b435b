/**
 * The broker of a suite that runs on both kinds: a nats-server of this machine, or, under
 * `REPRISE_TEST_BROKER=container` (the vitest project `containers`), one in a container.
 */
import { Effect } from "effect"
import { hasContainerEngine } from "../containers/ContainerEngine.ts"
import { containerBroker } from "./containerBroker.ts"
import { localBroker } from "./localBroker.ts"

const inContainer = process.env["REPRISE_TEST_BROKER"] === "container"

export const testBroker = inContainer ? containerBroker : localBroker

/** Whether the suites of `testBroker` must be skipped because there is no engine. If so, prints that. */
export const lacksTestBroker = inContainer ? Effect.map(hasContainerEngine, (has) => !has) : Effect.succeed(false)
