/** Which names a command may reach, and which name it wants: for the door before the proxy. Pure. */

export interface Target {
  readonly host: string
  readonly port: number
}

const portOf = (text: string, fallback: number): number | undefined => {
  if (text === "") return fallback
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port > 0 && port < 65_536 ? port : undefined
}

const nameOf = (host: string): string => host.toLowerCase().replace(/\.$/, "")

/**
 * What the first line of a request to a proxy asks for: `CONNECT host:port HTTP/1.1`, or a method with a whole address.
 * Undefined: it is no such line, or the name holds anything but the letters of a name or an address.
 */
export const targetOf = (line: string): Target | undefined => {
  const [, method = "", target = ""] = /^([A-Z]+) (\S+) HTTP\/1\.[01]$/.exec(line) ?? []
  const [, secure = "", address = ""] = /^http(s?):\/\/([^/?#]*)/i.exec(target) ?? []
  const authority = method === "CONNECT" ? target : address
  const [, host = "", port = ""] = /^(?:[^@]*@)?(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d*))?$/i.exec(authority) ?? []
  const found = portOf(port, method === "CONNECT" || secure !== "" ? 443 : 80)
  return host === "" || found === undefined ? undefined : { host: nameOf(host), port: found }
}

/** Names as in `sandbox.network`: `example.org`, `*.example.org` for those below it, and each with a `:port`. */
export const mayReach = (names: ReadonlyArray<string>, { host, port }: Target): boolean =>
  names.some((name) => {
    const [, pattern = "", only] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(name) ?? []
    if (only !== undefined && Number(only) !== port) return false
    const wanted = nameOf(pattern)
    return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) : host === wanted
  })

const localNames: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

/** Names of this machine with their ports, and the others, which the proxy is for: it lets nothing through to this machine. */
export const splitLocal = (
  names: ReadonlyArray<string>
): { readonly names: ReadonlyArray<string>; readonly ports: ReadonlyArray<number> } => {
  const ports = new Set<number>()
  const others: Array<string> = []
  for (const name of names) {
    const [, host = "", port = ""] = /^(\[.*\]|[^:]*):(\d+)$/.exec(name) ?? []
    if (localNames.has(host.toLowerCase())) ports.add(Number(port))
    else others.push(name)
  }
  return { names: others, ports: [...ports] }
}
