import { assert, describe, it } from "@effect/vitest"
import { remoteProblem, withoutLogin } from "../src/index.ts"

const taken = [
  "https://git.example.org/team/app.git",
  "https://git.example.org:8443/app",
  "ssh://git@git.example.org/app.git",
  "ssh://git@git.example.org:2222/app.git",
  "git@git.example.org:team/app.git",
  "file:///srv/git/app.git"
]

const refused: ReadonlyArray<readonly [string, RegExp]> = [
  ["", /not the address of a git server/],
  ["app", /not the address of a git server/],
  ["/srv/git/app.git", /file:\/\/\/PATH/],
  ["--upload-pack=id", /not the address of a git server/],
  ["ext::sh -c id", /space/],
  ["ext::id", /not the address of a git server/],
  ["me@host::app", /not the address of a git server/],
  ["-oProxyCommand=id@host:app", /not the address of a git server/],
  ["ssh://-oProxyCommand=id/app", /names no server|no address/],
  ["http://git.example.org/app", /not encrypted/],
  ["https://git.example.org/a b", /space/],
  ["https://git.example.org/a\n", /control character/],
  ["https://token@git.example.org/app", /login/],
  ["https://me:secret@git.example.org/app", /login/],
  ["ssh://git:secret@git.example.org/app", /login/],
  ["https://token\\@git.example.org/app", /backslash/],
  ["https://good.example\\@evil.example/app", /backslash/],
  ["-u@git.example.org:app", /not the address of a git server/],
  ["me@-oProxyCommand:app", /not the address of a git server/],
  ["ssh://-oProxyCommand@git.example.org/app", /begins with a dash/],
  ["https://", /not the address of a git server/]
]

describe("the address of a git remote", () => {
  for (const url of taken) {
    it(`may be ${url}`, () => assert.isUndefined(remoteProblem(url)))
  }

  for (const [url, why] of refused) {
    it(`may not be ${JSON.stringify(url)}`, () => assert.match(remoteProblem(url) ?? "", why))
  }
})

describe("the address of a git remote for people and logs", () => {
  it.each([
    ["https://git.example.org/app", "https://git.example.org/app"],
    ["https://git.example.org/app@v1", "https://git.example.org/app@v1"],
    ["https://me:secret@git.example.org/app@v1", "https://…@git.example.org/app@v1"],
    ["https://me:p@secret@git.example.org/app", "https://…@git.example.org/app"],
    ["https://me:p/secret@git.example.org/app", "https://…@git.example.org/app"],
    ["https://secret\\@git.example.org/app", "https://…@git.example.org/app"],
    ["https://me:p?secret#secret@git.example.org/app", "https://…@git.example.org/app"],
    ["git@git.example.org:app", "git@git.example.org:app"]
  ])("has no login: %s is shown as %s", (url, shown) => assert.strictEqual(withoutLogin(url), shown))
})
