/** A thread that parses plans, so that the process that does the work need not wait for one that takes long. */
import { constants, setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { listedPlan } from "./listedPlan.ts"
import type { PlanText } from "./parsingAside.ts"

// On Linux this is about the thread alone, elsewhere about the whole process.
if (process.platform === "linux") setPriority(constants.priority.PRIORITY_LOW)

parentPort?.on("message", ({ path, text }: PlanText) => parentPort?.postMessage({ plan: listedPlan(path, text) }))
parentPort?.postMessage("ready")
