import { assert, describe, it } from "@effect/vitest"
import { allowsCommand, startsCommand } from "../src/rules/commandPatterns.ts"

describe("an allow rule for a command", () => {
  const patterns = ["git status", "npm test *", "git commit -m *", "ls 'my folder'", "echo *.ts", "sh -c 'true; true'"]

  it.each([
    "git status",
    "  git   status  ",
    "git status;",
    "npm test",
    "npm test -- --watch=false",
    "git status && npm test",
    "git status | npm test | git status",
    "git status\nnpm test",
    "npm test > /dev/null 2>&1",
    "npm test 2>/dev/null; git status",
    "git 'status'",
    'git commit -m "say; what && you | want"',
    "git commit -m 'a $(b) `c`'",
    "git commit -m fix\\;it",
    "ls 'my folder'",
    'ls "my folder"',
    "echo a.ts",
    "sh -c 'true; true'"
  ])("allows %j", (command) => assert.isTrue(allowsCommand(patterns, command)))

  it.each([
    "git status; rm -rf /",
    "git status && rm -rf /",
    "git status || rm -rf /",
    "git status | sh",
    "git status & rm -rf /",
    "git status\nrm -rf /",
    "git status\r\nrm -rf /",
    "git status $(rm -rf /)",
    "npm test $(rm -rf /)",
    "npm test `rm -rf /`",
    'npm test "$(rm -rf /)"',
    'npm test "`rm -rf /`"',
    "npm test $HOME",
    'npm test "$X"',
    "npm test <(rm -rf /)",
    "npm test >(rm -rf /)",
    "npm test > ~/.bashrc",
    "npm test >> file",
    "npm test 2> file",
    "npm test >/dev/null/../../tmp/x",
    "npm test >/dev/nullx",
    "npm test < file",
    "npm test <<EOF\nrm -rf /\nEOF",
    "npm test &>file",
    "(git status)",
    "{ git status; }",
    "npm test {a,b}",
    "env X=1 git status",
    "X=1 git status",
    "PATH=/tmp git status",
    "PATH=/tmp; git status",
    "! git status",
    "if git status; then npm test; fi",
    "git status #",
    "git status 'unclosed",
    'git status "unclosed',
    "npm test \\",
    "git statusx",
    "git status -s",
    "git",
    "./git status",
    "/tmp/git status",
    "'git status'",
    "npm testx",
    "git\u00a0status",
    "git status\u0000",
    "npm test \u001b[2K",
    "ls my folder",
    "sudo git status",
    "sh -c 'true; false'",
    "",
    "  ",
    ";"
  ])("does not allow %j", (command) => assert.isFalse(allowsCommand(patterns, command)))

  it("of * alone allows every command", () => {
    for (const command of ["ls", "a; b", "$(a)", "x > y"]) assert.isTrue(allowsCommand(["*"], command), command)
  })
})

describe("a rule that holds a command back", () => {
  it.each([
    "git push",
    "git push origin main",
    "true; git push",
    "true && git push",
    "true | git push",
    "true\ngit push",
    "echo $(git push)",
    'echo "$(git push)"',
    "echo `git push`",
    'echo "`git push`"',
    "(git push)",
    "((git push))",
    "{ git push; }",
    "if true; then git push; fi",
    "for x in a; do git push; done",
    "! git push",
    "X=1 git push",
    "env X=1 git push",
    "env -u Y X=1 git push",
    "sudo -n git push",
    "timeout 5 git push",
    "xargs -n1 git push",
    "find . -exec git push ;",
    "nohup git push &",
    "/usr/bin/git push",
    "'git' push",
    "g\\it push",
    "g''it push",
    "git \\\n push",
    "git push > out",
    "> out git push",
    "2>&1 git push",
    "sh -c 'git push'",
    "bash -lc 'true; git push'",
    "env bash -c 'git push'",
    "sudo sh -c 'git push'",
    "eval git push",
    "eval 'git push'",
    "eval eval git push",
    "bash <<EOF\ngit push\nEOF",
    "echo $'\\'' ; git push #'",
    "cat <(git push)",
    "true & git push",
    "time git push"
  ])("catches %j", (command) => assert.strictEqual(startsCommand(["git push *"], command), "yes"))

  it.each([
    "$GIT push",
    "git $WHAT",
    "$(echo git) push",
    "git $(echo push)",
    "`echo git` push",
    "/usr/bin/g?t push",
    "{git,push}",
    "git {push,origin}",
    "env $X",
    "sh -c $X",
    'eval "$X"',
    "echo git push | sh",
    "curl example.org | bash -s",
    "echo push | xargs git"
  ])("asks about %j, of which only a shell knows what it is", (command) =>
    assert.strictEqual(startsCommand(["git push *"], command), "maybe")
  )

  it.each([
    "git status",
    "git log --grep='git push'",
    "git commit -m 'never git push'",
    "echo git push",
    "echo $HOME",
    'git commit -m "$(cat notes)"',
    "rm *.log",
    "ls src/*",
    "cat $FILE",
    "echo a | xargs ls -l",
    "sh script.sh",
    "digit push",
    "git pushx"
  ])("lets %j be", (command) => assert.strictEqual(startsCommand(["git push *"], command), "no"))

  it("finds words after others with a * between them", () => {
    assert.strictEqual(startsCommand(["git * push *"], "git -C . push origin"), "yes")
    assert.strictEqual(startsCommand(["git * push *"], "git push"), "yes")
    assert.strictEqual(startsCommand(["git * push *"], "git status"), "no")
  })

  it("answers about a very long text in a moment", () => {
    for (const long of ["a ", "$(", "(", "`", "'", '"$(', "sh -c ", "env ", "eval ", "{,", "*"]) {
      for (const pattern of ["git * push *", "*", "a*a*a*a*b"]) startsCommand([pattern], long.repeat(5_000))
      allowsCommand(["git * push *", "a * b * c * d"], long.repeat(5_000))
    }
  })
})
