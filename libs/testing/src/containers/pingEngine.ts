import { request } from "node:http"
import { Effect, Option, Schema } from "effect"

const Version = Schema.fromJsonString(
  Schema.Struct({ Components: Schema.optional(Schema.NullOr(Schema.Array(Schema.Struct({ Name: Schema.String })))) })
)
const decodeVersion = Schema.decodeUnknownOption(Version)

/** How to reach an engine's API: `unix:///run/docker.sock`, `tcp://host:2375`. */
const target = (host: string) => {
  const url = new URL(host)
  return url.protocol === "unix:" ? { socketPath: url.pathname } : { host: url.hostname, port: url.port || 2375 }
}

const get = (host: string, path: string): Effect.Effect<string, Error> =>
  Effect.callback((resume) => {
    const call = request({ ...target(host), path }, (response) => {
      let text = ""
      response.on("data", (data) => {
        text += String(data)
      })
      response.on("end", () =>
        resume(
          response.statusCode === 200 ? Effect.succeed(text) : Effect.fail(new Error(`HTTP ${response.statusCode}`))
        )
      )
    })
    call.on("error", (error) => resume(Effect.fail(error)))
    call.end()
    return Effect.sync(() => call.destroy())
  })

/** Which engine answers at an address; none when no engine answers within 20 seconds. */
export const pingEngine = (host: string): Effect.Effect<Option.Option<"docker" | "podman">> =>
  Effect.suspend(() => get(host, "/version")).pipe(
    Effect.timeout("20 seconds"),
    Effect.map((text) => {
      const components = Option.getOrUndefined(decodeVersion(text))?.Components ?? []
      return components.some(({ Name }) => Name.includes("Podman")) ? "podman" : "docker"
    }),
    Effect.option
  )
