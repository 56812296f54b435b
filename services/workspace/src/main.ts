/** Runs the workspace service of one host alone: a container's entry point. */
import { runService } from "@reprise/actor/main"
import { layer } from "./service.ts"

runService("workspace", layer)
