/** Entry point of a container that runs only the reviewer. */
import { runService } from "@reprise/actor/main"
import { layer } from "./service.ts"

runService("reviewer", layer)
