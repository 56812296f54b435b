import { assert, describe, it } from "@effect/vitest"
import { mayReach, splitLocal, targetOf } from "../src/network/hosts.ts"

describe("the first line of a request to the proxy", () => {
  it.each([
    ["CONNECT Example.org:443 HTTP/1.1", "example.org", 443],
    ["CONNECT example.org HTTP/1.0", "example.org", 443],
    ["CONNECT [::1]:8443 HTTP/1.1", "[::1]", 8443],
    ["GET http://example.org./a?b=http://other.org HTTP/1.1", "example.org", 80],
    ["GET https://example.org/ HTTP/1.1", "example.org", 443],
    ["POST http://someone:word@example.org:8080/ HTTP/1.1", "example.org", 8080],
    ["GET http://a@b@example.org/ HTTP/1.1", "example.org", 80],
    ["GET http://example.org?@allowed.org/ HTTP/1.1", "example.org", 80],
    ["GET http://example.org#@allowed.org/ HTTP/1.1", "example.org", 80],
    ["GET http://ex%61mple.org/ HTTP/1.1", "example.org", 80],
    ["CONNECT 0x7f000001:443 HTTP/1.1", "127.0.0.1", 443]
  ])("%s is for %s at %d", (line, host, port) => {
    assert.deepStrictEqual(targetOf(line), { host, port })
  })

  it.each([
    "",
    "GET /path HTTP/1.1",
    "CONNECT example.org:0 HTTP/1.1",
    "CONNECT example.org:99999 HTTP/1.1",
    "CONNECT example.org\u0000.allowed.org:443 HTTP/1.1",
    "CONNECT allowed.org@example.org/x:443 HTTP/1.1",
    // The proxy's parser takes the backslash for a slash, and the name before it.
    "GET http://example.org\\@allowed.org/ HTTP/1.1",
    "GET http:\\\\example.org\\@allowed.org/ HTTP/1.1",
    "GET http://example.org/\\x HTTP/1.1",
    "CONNECT example.org\\@allowed.org:443 HTTP/1.1",
    "CONNECT example.org?@allowed.org:443 HTTP/1.1",
    "GET http://exam\u00adple.org/ HTTP/1.1",
    "GET ftp://example.org/ HTTP/1.1",
    "connect example.org:443 HTTP/1.1",
    "CONNECT example.org:443 HTTP/2"
  ])("%j is for nobody", (line) => {
    assert.isUndefined(targetOf(line))
  })
})

describe("a name", () => {
  it.each([
    ["example.org", "example.org", true],
    ["EXAMPLE.org", "example.org", true],
    ["example.org", "www.example.org", false],
    ["*.example.org", "www.example.org", true],
    ["*.example.org", "example.org", false],
    ["*.example.org", "badexample.org", false],
    ["example.org:443", "example.org", true],
    ["example.org:8443", "example.org", false],
    ["[::1]:443", "[::1]", true],
    ["", "example.org", false]
  ] as const)("that is allowed as %j allows %s: %s", (name, host, allowed) => {
    assert.strictEqual(mayReach([name], { host, port: 443 }), allowed)
  })
})

describe("names of this machine", () => {
  it("are told from others by their port, which the proxy would let nothing through to", () => {
    const names = [
      "localhost:1",
      "127.0.0.1:2",
      "[::1]:3",
      "LOCALHOST:1",
      "localhost",
      "example.org:4",
      "*.example.org"
    ]
    assert.deepStrictEqual(splitLocal(names), {
      ports: [1, 2, 3],
      names: ["localhost", "example.org:4", "*.example.org"]
    })
  })
})
