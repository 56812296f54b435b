import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import {
  type AptSource,
  type Distribution,
  parseDeb822,
  parseDistribution,
  parseOneLine,
  privateSource
} from "../src/locate/aptSources.ts"

const debian: Distribution = { family: "debian", codename: "bookworm" }
const ubuntu: Distribution = { family: "ubuntu", codename: "noble" }

const twoStanzas = `# a comment
Types: deb
# another, inside
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /keys/debian.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /keys/debian.gpg
`

const embeddedKey = `Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF
 -----END PGP PUBLIC KEY BLOCK-----
`

const source = (fields: Partial<AptSource>): AptSource => ({
  types: ["deb"],
  uris: ["http://mirror.example/debian"],
  suites: ["bookworm"],
  components: ["main"],
  signedBy: Option.none(),
  ...fields
})

describe("parseDeb822", () => {
  it("reads every stanza and skips comments", () => {
    const [main, security, ...others] = parseDeb822(twoStanzas)
    assert.deepStrictEqual(others, [])
    assert.deepStrictEqual(
      main,
      source({ suites: ["bookworm", "bookworm-updates"], signedBy: Option.some("/keys/debian.gpg") })
    )
    assert.deepStrictEqual(security?.suites, ["bookworm-security"])
  })

  it("keeps a key that is written in the source itself, line by line", () => {
    const [found] = parseDeb822(embeddedKey)
    const key = Option.getOrThrow(found?.signedBy ?? Option.none())
    assert.strictEqual(key.split("\n").length, 5)
    assert.include(key, "\n mQINBF\n")
  })

  it("leaves out disabled stanzas", () => {
    assert.deepStrictEqual(parseDeb822(`Enabled: no\n${twoStanzas.split("\n\n")[0]}`), [])
  })
})

describe("parseOneLine", () => {
  it.each([
    ["deb http://mirror.example/debian bookworm main", source({})],
    ["  deb http://mirror.example/debian bookworm main contrib # why", source({ components: ["main", "contrib"] })],
    [
      "deb [arch=amd64 signed-by=/keys/debian.gpg] http://mirror.example/debian bookworm main",
      source({ signedBy: Option.some("/keys/debian.gpg") })
    ],
    ["deb-src http://mirror.example/debian bookworm main", source({ types: ["deb-src"] })]
  ])("reads %j", (line, expected) => assert.deepStrictEqual(parseOneLine(`${line}\n`), [expected]))

  it.each(["", "# deb http://mirror.example/debian bookworm main", "debian"])("finds no source in %j", (line) =>
    assert.deepStrictEqual(parseOneLine(line), [])
  )
})

it.each([
  ['ID=debian\nVERSION_CODENAME=bookworm\nPRETTY_NAME="Debian GNU/Linux 12"', Option.some(debian)],
  ["ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\nUBUNTU_CODENAME=noble", Option.some(ubuntu)],
  ['ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble', Option.some(ubuntu)],
  ["ID=fedora\nVERSION_ID=42", Option.none()],
  ["", Option.none()]
])("recognizes the distribution in %j", (text, expected) => assert.deepStrictEqual(parseDistribution(text), expected))

describe("privateSource", () => {
  it("uses the system's own mirror and key for the release with a suitable server", () => {
    const made = Option.getOrThrow(privateSource(parseDeb822(twoStanzas), debian))
    assert.strictEqual(
      made.text,
      "Types: deb\nURIs: http://mirror.example/debian\nSuites: trixie\nComponents: main\nSigned-By: /keys/debian.gpg\n"
    )
  })

  it("uses the distribution's keyring where the source names none", () => {
    const made = Option.getOrThrow(
      privateSource([source({ suites: ["noble"], components: ["main", "universe"] })], ubuntu)
    )
    assert.include(made.text, "Suites: resolute\nComponents: universe\n")
    assert.strictEqual(made.keyring, "/usr/share/keyrings/ubuntu-archive-keyring.gpg")
  })

  it("accepts a system that follows testing", () => {
    assert.isTrue(Option.isSome(privateSource([source({ suites: ["testing"] })], { family: "debian", codename: "" })))
  })

  it.each([
    ["a foreign repository", [source({ suites: ["nodistro"] })]],
    ["sources only", [source({ types: ["deb-src"] })]],
    ["the security mirror alone", [source({ suites: ["bookworm-security"] })]],
    ["nothing", []]
  ])("finds no mirror in %s", (_, sources) => assert.isTrue(Option.isNone(privateSource(sources, debian))))
})
