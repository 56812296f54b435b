/** A process that runs one gate: `node gateProcess.ts ROOT COMMAND`. SIGTERM interrupts the gate. */
import { Effect, Fiber } from "effect"
import { qualityGates } from "../../src/work/qualityGates/qualityGates.ts"
import { gates } from "./commands.ts"
import { adapters, placeAt } from "./repository.ts"

const [root = "", command = ""] = process.argv.slice(2)

const running = Effect.runFork(qualityGates(gates([command]), placeAt(root)).pipe(Effect.provide(adapters)))
process.on("SIGTERM", () => Effect.runFork(Fiber.interrupt(running)))
