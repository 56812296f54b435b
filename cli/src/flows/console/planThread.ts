/** A thread that parses plans, so that the process that does the work need not wait for one that takes long. */
import { parentPort } from "node:worker_threads"
import { listedPlan } from "./listedPlan.ts"
import type { PlanText } from "./parsingAside.ts"

parentPort?.on("message", ({ path, text }: PlanText) => parentPort?.postMessage({ plan: listedPlan(path, text) }))
parentPort?.postMessage("ready")
