/** Entry point of a container that runs only the workspace service of one host. */
import { runService } from "@reprise/actor/main"
import { layer } from "./service.ts"

runService("workspace", layer)
