/** The public package registries that a project uses, told by the files in its top folder. Pure. */

const npm = ["registry.npmjs.org", "registry.yarnpkg.com"]
const python = ["pypi.org", "files.pythonhosted.org"]
const maven = ["repo.maven.apache.org", "repo1.maven.org"]
const gradle = [...maven, "plugins.gradle.org", "services.gradle.org", "downloads.gradle.org"]
const ruby = ["rubygems.org", "index.rubygems.org"]

/**
 * Only well-known names: an address that a repository itself names would be of its choosing. Others are named in
 * `sandbox.network`.
 */
const registriesOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  "package.json": npm,
  "deno.json": ["jsr.io", "npm.jsr.io", "deno.land", ...npm],
  "Cargo.toml": ["index.crates.io", "static.crates.io", "crates.io"],
  "go.mod": ["proxy.golang.org", "sum.golang.org"],
  "pyproject.toml": python,
  "requirements.txt": python,
  "setup.py": python,
  Pipfile: python,
  Gemfile: ruby,
  "pom.xml": maven,
  "build.gradle": gradle,
  "build.gradle.kts": gradle,
  "composer.json": ["repo.packagist.org", "packagist.org"],
  "pubspec.yaml": ["pub.dev"],
  "mix.exs": ["repo.hex.pm", "hex.pm"],
  "global.json": ["api.nuget.org"],
  "nuget.config": ["api.nuget.org"]
}

const byExtension: ReadonlyArray<readonly [RegExp, ReadonlyArray<string>]> = [
  [/\.(sln|slnx|csproj|fsproj)$/, ["api.nuget.org"]],
  [/\.gemspec$/, ruby],
  [/\.cabal$/, ["hackage.haskell.org"]]
]

/** `names`: the files in the top folder of the workspace. */
export const registriesFor = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  [
    ...new Set(
      names.flatMap((name) => [
        ...(Object.hasOwn(registriesOf, name) ? (registriesOf[name] ?? []) : []),
        ...byExtension.flatMap(([pattern, registries]) => (pattern.test(name) ? registries : []))
      ])
    )
  ].sort()
