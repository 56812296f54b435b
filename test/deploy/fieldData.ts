/** The samples of every kind of Kubernetes 1.36, and the fields that it requires, from Debian's package of its API. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { userCacheFolder } from "@reprise/process"
import { Effect, Option } from "effect"
import { parse } from "yaml"
import { partOfPackage } from "./debianPackage.ts"
import type { SampleOf } from "./fields.ts"
import { type Struct, type StructOf, structsIn } from "./goStructs.ts"

export interface KubernetesFields {
  readonly sampleOf: SampleOf
  readonly structOf: StructOf
}

/** Of the API of Kubernetes 1.36: any of its corrections will do, and sid has one at a time. */
const version = "0.36"

const locate = () =>
  partOfPackage({
    name: `golang-k8s-api-dev=${version}.*`,
    path: "usr/share/gocode/src/k8s.io/api",
    target: join(userCacheFolder(process.env), "kubernetes-api", version)
  })

const samplesIn =
  (folder: string): SampleOf =>
  (apiVersion, kind) => {
    const group = apiVersion.includes("/") ? apiVersion.replace("/", ".") : `core.${apiVersion}`
    const file = join(folder, "testdata/HEAD", `${group}.${kind}.yaml`)
    return existsSync(file) ? parse(readFileSync(file, "utf8")) : undefined
  }

const structsOf = (folder: string): StructOf => {
  const read = new Map<string, ReadonlyMap<string, Struct>>()
  return (name) => {
    const [home = ""] = name.split(".")
    const file = join(folder, home, "types.go")
    const known = read.get(home) ?? (existsSync(file) ? structsIn(readFileSync(file, "utf8"), home) : new Map())
    read.set(home, known)
    return known.get(name)
  }
}

/** None, and a line about it, where the package is not to be had. */
export const kubernetesFields: Effect.Effect<Option.Option<KubernetesFields>> = Effect.tryPromise(locate).pipe(
  Effect.map((folder) => Option.some({ sampleOf: samplesIn(folder), structOf: structsOf(folder) })),
  Effect.catch((error) => {
    const reason = String(error.cause).split("\n")[0]
    process.stdout.write(`fields of manifests: not checked, no data of Kubernetes 1.36 (${reason})\n`)
    return Effect.succeed(Option.none<KubernetesFields>())
  })
)
