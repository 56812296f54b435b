import { assert, describe, it } from "@effect/vitest"
import { codeVariables, trustedValue } from "../src/codeVariables.ts"

const paths = {
  isTrusted: (path: string) => !/^\/+work(\/|$)/.test(path),
  isThere: (path: string) => !path.includes("missing")
}
const all = (value: string) => [value, value] as const

/** What is left outside; undefined: nothing. */
const table: ReadonlyArray<readonly [name: string, value: string, left: string | undefined]> = [
  ["LD_LIBRARY_PATH", ...all("/opt/cuda/lib64:/usr/lib")],
  ["LD_LIBRARY_PATH", "/opt/cuda/lib64:", "/opt/cuda/lib64"],
  ["LD_LIBRARY_PATH", ":/opt/cuda/lib64", "/opt/cuda/lib64"],
  ["LD_LIBRARY_PATH", "/opt/a::/opt/b", "/opt/a:/opt/b"],
  ["LD_LIBRARY_PATH", "/opt/a;;/work/lib;/opt/b", "/opt/a:/opt/b"],
  ["LD_LIBRARY_PATH", "/work/build/lib", undefined],
  ["LD_LIBRARY_PATH", "lib:./lib:.:$ORIGIN/lib", undefined],
  ["LD_LIBRARY_PATH", ...all("")],
  ["LD_LIBRARY_PATH", "/missing:/opt/a", "/opt/a"],
  ["DYLD_LIBRARY_PATH", "/work/lib:/opt/a", "/opt/a"],
  ["DYLD_INSERT_LIBRARIES", "/work/a.dylib:b.dylib:/opt/c.dylib", "/opt/c.dylib"],
  ["LD_PRELOAD", ...all("libjemalloc.so.2")],
  ["LD_PRELOAD", ...all("/usr/lib/libfaketime.so.1 libjemalloc.so.2")],
  ["LD_PRELOAD", "./evil.so /usr/lib/a.so", "/usr/lib/a.so"],
  ["LD_PRELOAD", "/work/evil.so", undefined],
  ["LD_AUDIT", "/work/audit.so:/opt/audit.so", "/opt/audit.so"],
  ...["PYTHONPATH", "PERL5LIB", "PERLLIB", "RUBYLIB", "NODE_PATH", "GCONV_PATH", "PYTHONHOME"].flatMap(
    (name) =>
      [
        [name, ...all("/opt/lib")],
        [name, "/work/lib:/opt/lib", "/opt/lib"],
        [name, "src", undefined]
      ] as const
  ),
  ...["GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "TMPDIR", "XDG_RUNTIME_DIR", "OPENSSL_CONF"].flatMap(
    (name) =>
      [
        [name, ...all("/opt/place")],
        [name, "/work/place", undefined],
        [name, "place", undefined]
      ] as const
  ),
  // What is obeyed there is read only in every sandbox.
  ...["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "BASH_ENV", "PYTHONSTARTUP"].flatMap(
    (name) =>
      [
        [name, ...all("/work/place")],
        [name, "place", undefined]
      ] as const
  ),
  ["NODE_OPTIONS", ...all("--max-old-space-size=4096 --enable-source-maps --title=a/b")],
  ["NODE_OPTIONS", ...all("--require /opt/hook.cjs --import=file:///opt/hook.mjs")],
  ["NODE_OPTIONS", ...all("--import node:test")],
  ["NODE_OPTIONS", "--require /work/hook.cjs", undefined],
  ["NODE_OPTIONS", "--require=/work/hook.cjs", undefined],
  ["NODE_OPTIONS", '--require "/work/hook.cjs"', undefined],
  ["NODE_OPTIONS", "-r ./hook.cjs", undefined],
  ["NODE_OPTIONS", "-r dotenv/config", undefined],
  ["NODE_OPTIONS", "--import tsx", undefined],
  ["NODE_OPTIONS", "--import=tsx", undefined],
  ["NODE_OPTIONS", "--import file:///work/hook.mjs", undefined],
  ["NODE_OPTIONS", "--experimental-loader ./loader.mjs", undefined],
  ["NODE_OPTIONS", "--inspect --loader=ts-node/esm", undefined],
  ["BUN_OPTIONS", "--preload ./hook.ts", undefined],
  ["BUN_OPTIONS", ...all("--smol")],
  ["PERL5OPT", "-Ilib -Mevil", undefined],
  ["PERL5OPT", "-I/work/lib", undefined],
  ["PERL5OPT", ...all("-Mstrict -I/opt/lib")],
  ["RUBYOPT", "-r./hook", undefined],
  ["RUBYOPT", ...all("-W0 --yjit")],
  ["JAVA_TOOL_OPTIONS", "-javaagent:agent.jar", undefined],
  ["JAVA_TOOL_OPTIONS", "-javaagent:/work/agent.jar", undefined],
  ["JAVA_TOOL_OPTIONS", ...all("-Xmx1g -Dfile.encoding=UTF-8")],
  ["EDITOR", ...all("code --wait -r")],
  ["EDITOR", ...all("/usr/bin/vim")],
  ["EDITOR", "./node_modules/.bin/edit", undefined],
  ["EDITOR", "tools/edit", undefined],
  ["EDITOR", "env node /work/edit.js", undefined],
  ["GIT_SSH_COMMAND", ...all("ssh -i ~/.ssh/id -o UserKnownHostsFile=/dev/null")],
  ["GIT_SSH_COMMAND", "ssh -o ProxyCommand=./proxy", undefined],
  ["GIT_ASKPASS", ...all("true")],
  ["GIT_ASKPASS", "/work/askpass.sh", undefined],
  // Of no loader.
  ["EXAMPLE", ...all("/work/lib")]
]

describe("what programs outside of the sandbox get of a variable", () => {
  it.each(table)("%s=%s is %s", (name, value, left) => {
    assert.strictEqual(trustedValue(name, value, paths), left)
  })

  it("which names a folder that agents write is none of it, whichever variable of the table it is", () => {
    for (const name of codeVariables) {
      assert.notInclude(trustedValue(name, "./work/x", paths) ?? "", "work", name)
    }
  })
})
