import { assert, describe, it } from "@effect/vitest"
import { accessSettings } from "../src/work/remote/access.ts"

/** The values of the settings with this name. */
const valuesOf = (environment: Readonly<Record<string, string>>, name: string) =>
  accessSettings(environment).flatMap((part) => (part.startsWith(`${name}=`) ? [part.slice(name.length + 1)] : []))

describe("how git reaches a remote", () => {
  it("allows three transports and no other", () => {
    const settings = accessSettings({}).filter((part) => part.startsWith("protocol."))
    assert.deepStrictEqual(settings, [
      "protocol.allow=never",
      "protocol.https.allow=always",
      "protocol.ssh.allow=always",
      "protocol.file.allow=always"
    ])
  })

  it("leaves logins to the user's own configuration of git where no file is named", () => {
    assert.deepStrictEqual(valuesOf({ REPRISE_GIT_CREDENTIALS_FILE: "" }, "credential.helper"), [])
    assert.deepStrictEqual(valuesOf({}, "http.sslCAInfo"), [])
    assert.notInclude(valuesOf({}, "core.sshCommand")[0], "UserKnownHostsFile")
  })

  it("uses the files that are named and no other, quoted for the shell that git starts", () => {
    const environment = {
      REPRISE_GIT_CREDENTIALS_FILE: "/etc/git/it's one",
      REPRISE_GIT_SSH_KEY_FILE: "/etc/git/key",
      REPRISE_GIT_KNOWN_HOSTS_FILE: "/etc/git/known hosts",
      REPRISE_GIT_CA_FILE: "/etc/git/ca.crt"
    }
    assert.deepStrictEqual(valuesOf(environment, "credential.helper"), [
      "",
      `!login() { test "$1" = get && git credential-store --file='/etc/git/it'\\''s one' get; }; login`
    ])
    assert.deepStrictEqual(valuesOf(environment, "http.sslCAInfo"), ["/etc/git/ca.crt"])
    const [ssh = ""] = valuesOf(environment, "core.sshCommand")
    assert.include(ssh, "-o IdentitiesOnly=yes -i '/etc/git/key'")
    assert.include(ssh, `-o GlobalKnownHostsFile=/dev/null -o UserKnownHostsFile='"/etc/git/known hosts"'`)
  })
})
