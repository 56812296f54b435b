/** Fetches kubectl from Debian, for CI on a machine without it, and prints the folder that it is in. */
import { dirname, join } from "node:path"
import { userCacheFolder } from "@reprise/process"
import { partOfPackage } from "./debianPackage.ts"

const kubectl = await partOfPackage({
  name: "kubectl",
  path: "usr/bin/kubectl",
  target: join(userCacheFolder(process.env), "kubectl", "kubectl")
})
process.stdout.write(`${dirname(kubectl)}\n`)
