/** Entry point of a container that runs only the gate. */
import { runService } from "@reprise/actor/main"
import { layer } from "./service.ts"

runService("gate", layer)
