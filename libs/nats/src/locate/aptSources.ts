/** Reads the package sources of a Debian or Ubuntu system and derives a private source from them. Pure. */
import { Option } from "effect"

export interface AptSource {
  readonly types: ReadonlyArray<string>
  readonly uris: ReadonlyArray<string>
  readonly suites: ReadonlyArray<string>
  readonly components: ReadonlyArray<string>
  /** The path of a keyring, or the lines of a key itself, as written in the source. */
  readonly signedBy: Option.Option<string>
}

export interface Distribution {
  readonly family: "debian" | "ubuntu"
  readonly codename: string
}

const words = (text: string | undefined): ReadonlyArray<string> =>
  (text ?? "").split(/\s+/).filter((word) => word.length > 0)

const stanzaFields = (stanza: string): ReadonlyMap<string, string> => {
  const fields = new Map<string, string>()
  let name = ""
  for (const line of stanza.split("\n")) {
    if (line.startsWith("#")) continue
    const field = /^([A-Za-z-]+):(.*)$/.exec(line)
    if (field !== null) {
      name = (field[1] ?? "").toLowerCase()
      fields.set(name, (field[2] ?? "").trimStart())
    } else if (name !== "" && /^[ \t]/.test(line)) {
      fields.set(name, `${fields.get(name)}\n${line}`)
    }
  }
  return fields
}

/** The `.sources` format (deb822): stanzas of fields. Disabled stanzas are left out. */
export const parseDeb822 = (text: string): ReadonlyArray<AptSource> =>
  text.split(/\n[ \t]*\n/).flatMap((stanza) => {
    const fields = stanzaFields(stanza)
    if (!fields.has("uris") || /^(no|false|0)$/i.test((fields.get("enabled") ?? "").trim())) return []
    return [
      {
        types: words(fields.get("types")),
        uris: words(fields.get("uris")),
        suites: words(fields.get("suites")),
        components: words(fields.get("components")),
        signedBy: Option.fromNullishOr(fields.get("signed-by")).pipe(Option.filter((key) => key.trim() !== ""))
      }
    ]
  })

/** The `.list` format: one source a line, options in brackets. */
export const parseOneLine = (text: string): ReadonlyArray<AptSource> =>
  text.split("\n").flatMap((line) => {
    const match = /^\s*(deb|deb-src)\s+(?:\[([^\]]*)\]\s+)?([^\s#]+)\s+([^\s#]+)([^#]*)/.exec(line)
    if (match === null) return []
    const [, type, options, uri, suite, components] = match
    const signedBy = words(options).find((option) => option.startsWith("signed-by="))
    return [
      {
        types: words(type),
        uris: words(uri),
        suites: words(suite),
        components: words(components),
        signedBy: Option.fromNullishOr(signedBy).pipe(Option.map((option) => option.slice("signed-by=".length)))
      }
    ]
  })

/** Reads `/etc/os-release`. None for a system that is not Debian, Ubuntu or derived from them. */
export const parseDistribution = (osRelease: string): Option.Option<Distribution> => {
  const values = new Map<string, string>()
  for (const line of osRelease.split("\n")) {
    const match = /^([A-Z_]+)="?([^"]*)(?:"\s*)?$/.exec(line)
    if (match !== null) values.set(match[1] ?? "", match[2] ?? "")
  }
  const ids = [values.get("ID") ?? "", ...words(values.get("ID_LIKE"))]
  const family = ids.includes("ubuntu") ? "ubuntu" : ids.includes("debian") ? "debian" : undefined
  if (family === undefined) return Option.none()
  const codename =
    (family === "ubuntu" ? values.get("UBUNTU_CODENAME") : values.get("DEBIAN_CODENAME")) ??
    values.get("VERSION_CODENAME") ??
    ""
  return Option.some({ family, codename })
}

/** The releases that contain nats-server 2.10.27, built for libc 2.34 and newer (apt-cache policy, November 2026). */
const release = {
  debian: { suite: "trixie", component: "main", keyring: "/usr/share/keyrings/debian-archive-keyring.gpg" },
  ubuntu: { suite: "resolute", component: "universe", keyring: "/usr/share/keyrings/ubuntu-archive-keyring.gpg" }
} as const

const rollingSuites = ["stable", "testing", "unstable", "sid"]

/**
 * A source for the release with a suitable nats-server, on the mirror of the system's own release, which the system
 * already trusts. None when the system's sources name no such mirror.
 */
export const privateSource = (
  sources: ReadonlyArray<AptSource>,
  distribution: Distribution
): Option.Option<{ readonly text: string; readonly keyring: string }> => {
  const { component, keyring, suite } = release[distribution.family]
  const own = [distribution.codename, suite, ...(distribution.family === "debian" ? rollingSuites : [])]
  const mirror = sources.find(
    (source) =>
      source.types.includes("deb") &&
      source.uris.length > 0 &&
      source.components.includes("main") &&
      source.suites.some((name) => own.includes(name))
  )
  if (mirror === undefined) return Option.none()
  const signedBy = Option.getOrElse(mirror.signedBy, () => keyring)
  const fields = [
    "Types: deb",
    `URIs: ${mirror.uris.join(" ")}`,
    `Suites: ${suite}`,
    `Components: ${component}`,
    `Signed-By: ${signedBy}`
  ]
  return Option.some({ text: `${fields.join("\n")}\n`, keyring: signedBy })
}
