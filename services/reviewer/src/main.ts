/** Runs the reviewer alone: a container's entry point. */
import { runService } from "@reprise/actor/main"
import { layer } from "./service.ts"

runService("reviewer", layer)
