/** Patterns for addresses: a server's name, `*.` before it for all below it, and a port if only that one is meant. Pure. */

const form = /^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i

/** Undefined: it is valid; else what is wrong with it, for people. */
export const addressPatternProblem = (pattern: string): string | undefined =>
  form.test(pattern)
    ? undefined
    : "a server's name such as example.org, *.example.org or example.org:8080, without a scheme and a path"

interface Address {
  readonly name: string
  readonly port: string
}

const defaultPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" }

/** The server that a URL names; undefined for anything but HTTP. */
export const addressOf = (url: string): Address | undefined => {
  if (!URL.canParse(url)) return undefined
  const { hostname, port, protocol } = new URL(url)
  const defaultPort = defaultPorts[protocol]
  if (defaultPort === undefined) return undefined
  return { name: hostname.replace(/\.$/, ""), port: port === "" ? defaultPort : port }
}

/** As a pattern that matches it, with the port if it is not the usual one. */
export const addressName = ({ name, port }: Address): string =>
  Object.values(defaultPorts).includes(port) ? name : `${name}:${port}`

export const matchesAddress = (pattern: string, { name, port }: Address): boolean => {
  const [, wanted = "", wantedPort = port] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? []
  if (wantedPort !== port) return false
  if (wanted === "*") return true
  return wanted.startsWith("*.") ? name.endsWith(wanted.slice(1)) : name === wanted
}
