/** Files that servers obey once they are pushed: pipelines, deployments, bots, and who must review what. */
import type { ObeyedFiles } from "./obeyed-file.ts";

/** What templates and plain documents of a forge's directory are called. */
function documentsOf(directory: string): readonly string[] {
  const names = ["README.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "SUPPORT.md", "GOVERNANCE.md"];
  const templates = [
    "ISSUE_TEMPLATE",
    "PULL_REQUEST_TEMPLATE",
    "DISCUSSION_TEMPLATE",
    "ISSUE_TEMPLATE.md",
    "PULL_REQUEST_TEMPLATE.md",
  ];
  return [...names, ...templates].map((name) => `${directory}/${name}`);
}

/** Files of pipelines and of forges. */
export const CI_FILES: readonly ObeyedFiles[] = [
  {
    patterns: [".github"],
    reason: "GitHub runs its workflows and actions, and Copilot, Dependabot and other bots follow what stands in it",
    source: "https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax",
    plain: documentsOf(".github"),
  },
  {
    patterns: [".gitlab-ci.yml", ".gitlab-ci.yaml"],
    reason: "GitLab runs it with every push",
    source: "https://docs.gitlab.com/ci/yaml",
  },
  {
    patterns: [".gitlab"],
    reason: "GitLab takes owners, agents, security policies and routes of its assistant from it",
    source: "https://docs.gitlab.com/user/clusters/agent",
    plain: [".gitlab/README.md", ".gitlab/issue_templates", ".gitlab/merge_request_templates"],
  },
  {
    patterns: [".forgejo", ".gitea"],
    reason: "Forgejo and Gitea run its workflows",
    source: "https://forgejo.org/docs/latest/user/actions/reference",
    plain: [...documentsOf(".forgejo"), ...documentsOf(".gitea")],
  },
  {
    patterns: ["CODEOWNERS"],
    reason: "the forge asks those whom it names to review, so that changing it changes who must agree",
    source:
      "https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners",
  },
  {
    // `OWNERS` itself is left out: with case ignored it would take in every directory called `owners`.
    patterns: ["OWNERS_ALIASES", ".prow.yaml"],
    reason: "Prow merges with the approval of those whom it names, and runs the jobs in it",
    source: "https://docs.prow.k8s.io/docs/components/plugins/approve/approvers",
  },
  {
    patterns: [".circleci"],
    reason: "CircleCI runs it with every push",
    source: "https://circleci.com/docs/configuration-reference",
  },
  {
    patterns: [".travis.yml"],
    reason: "Travis CI runs it with every push",
    source: "https://docs.travis-ci.com/user/customizing-the-build",
  },
  {
    patterns: ["Jenkinsfile"],
    reason: "Jenkins runs it with every push",
    source: "https://www.jenkins.io/doc/book/pipeline/jenkinsfile",
  },
  {
    patterns: ["azure-pipelines.yml", "azure-pipelines.yaml", ".azure-pipelines", ".azuredevops", ".vsts-ci.yml"],
    reason: "Azure Pipelines runs it with every push",
    source: "https://learn.microsoft.com/en-us/azure/devops/pipelines/yaml-schema",
  },
  {
    patterns: ["bitbucket-pipelines.yml"],
    reason: "Bitbucket runs it with every push",
    source: "https://support.atlassian.com/bitbucket-cloud/docs/bitbucket-pipelines-configuration-reference",
  },
  {
    patterns: [".drone.yml", ".drone.yaml", ".drone.star", ".drone.jsonnet"],
    reason: "Drone runs it with every push",
    source: "https://docs.drone.io/pipeline/overview",
  },
  {
    patterns: [".woodpecker", ".woodpecker.yml", ".woodpecker.yaml"],
    reason: "Woodpecker runs it with every push",
    source: "https://woodpecker-ci.org/docs/usage/workflow-syntax",
  },
  {
    patterns: ["appveyor.yml", ".appveyor.yml"],
    reason: "AppVeyor runs it with every push",
    source: "https://www.appveyor.com/docs/appveyor-yml",
  },
  {
    patterns: [".buildkite"],
    reason: "Buildkite runs its pipelines, hooks and plug-ins",
    source: "https://buildkite.com/docs/pipelines/configure/defining-steps",
  },
  {
    patterns: [".semaphore"],
    reason: "Semaphore runs it with every push",
    source: "https://docs.semaphoreci.com/reference/pipeline-yaml",
  },
  {
    patterns: ["cloudbuild.yaml", "cloudbuild.yml", "cloudbuild.json"],
    reason: "Google Cloud Build runs it with every push",
    source: "https://cloud.google.com/build/docs/build-config-file-schema",
  },
  {
    patterns: [".cirrus.yml", ".cirrus.yaml", ".cirrus.star"],
    reason: "Cirrus CI runs it with every push",
    source: "https://cirrus-ci.org/guide/writing-tasks",
  },
  {
    patterns: [".teamcity"],
    reason: "TeamCity compiles and runs it as its settings",
    source: "https://www.jetbrains.com/help/teamcity/kotlin-dsl.html",
  },
  {
    patterns: ["codefresh.yml", ".codefresh"],
    reason: "Codefresh runs it with every push",
    source: "https://codefresh.io/docs/docs/pipelines/introduction-to-codefresh-pipelines",
  },
  {
    patterns: ["codeship-steps.yml", "codeship-services.yml"],
    reason: "CodeShip runs it with every push",
    source: "https://docs.cloudbees.com/docs/cloudbees-codeship/latest/pro-builds-and-configuration/steps",
  },
  {
    patterns: ["buddy.yml", ".buddy"],
    reason: "Buddy runs it with every push",
    source: "https://buddy.works/docs/pipelines/yaml",
  },
  {
    patterns: ["wercker.yml", "shippable.yml", ".scrutinizer.yml"],
    reason: "the service runs it with every push",
    source: "https://scrutinizer-ci.com/docs/configuration",
  },
  {
    patterns: ["screwdriver.yaml"],
    reason: "Screwdriver runs it with every push",
    source: "https://docs.screwdriver.cd/user-guide/configuration",
  },
  {
    patterns: [".tekton"],
    reason: "Pipelines as Code runs it with every push",
    source: "https://pipelinesascode.com/docs/guide/authoringprs",
  },
  {
    patterns: [".build.yml", ".builds"],
    reason: "builds.sr.ht runs it with every push",
    source: "https://man.sr.ht/builds.sr.ht",
  },
  {
    patterns: [".taskcluster.yml"],
    reason: "Taskcluster runs it with every push",
    source: "https://docs.taskcluster.net/docs/reference/integrations/github/taskcluster-yml-v1",
  },
  {
    patterns: [".zuul.yaml", ".zuul.d", "zuul.yaml", "zuul.d"],
    reason: "Zuul runs its jobs with every change",
    source: "https://zuul-ci.org/docs/zuul/latest/project-config.html",
  },
  {
    patterns: [".harness"],
    reason: "Harness runs its pipelines with every push",
    source: "https://developer.harness.io/docs/platform/git-experience/git-experience-overview",
  },
  {
    patterns: ["bamboo-specs"],
    reason: "Bamboo compiles and runs it as its settings",
    source: "https://confluence.atlassian.com/bamboo/bamboo-specs-894743906.html",
  },
  {
    patterns: [".vela.yml", ".vela.yaml"],
    reason: "Vela runs it with every push",
    source: "https://go-vela.github.io/docs/reference/yaml",
  },
  {
    patterns: [".packit.yaml", ".packit.yml", "packit.yaml"],
    reason: "Packit builds and releases as it says",
    source: "https://packit.dev/docs/configuration",
  },
  {
    patterns: [".ci"],
    reason: "by custom it holds what a pipeline runs",
    source: "https://www.jenkins.io/doc/book/pipeline",
  },
  {
    patterns: [".readthedocs.yaml", ".readthedocs.yml", "readthedocs.yml"],
    reason: "Read the Docs runs the build commands in it with every push",
    source: "https://docs.readthedocs.com/platform/stable/config-file/v2.html",
  },
  {
    patterns: ["netlify.toml"],
    reason: "Netlify runs its build command and plug-ins with every push, and `netlify dev` the command in it",
    source: "https://docs.netlify.com/build/configure-builds/file-based-configuration",
  },
  {
    patterns: ["vercel.json", ".vercel"],
    reason: "Vercel runs its build command with every push, and `vercel dev` the command in it",
    source: "https://vercel.com/docs/project-configuration",
  },
  {
    patterns: ["render.yaml"],
    reason: "Render makes services and runs commands from it with every push",
    source: "https://render.com/docs/blueprint-spec",
  },
  {
    patterns: ["railway.json", "railway.toml", "nixpacks.toml"],
    reason: "Railway builds and starts as it says with every push",
    source: "https://docs.railway.com/reference/config-as-code",
  },
  {
    patterns: ["heroku.yml"],
    reason: "Heroku builds, releases and runs as it says with every push",
    source: "https://devcenter.heroku.com/articles/build-docker-images-heroku-yml",
  },
  {
    patterns: ["amplify.yml"],
    reason: "AWS Amplify runs its commands with every push",
    source: "https://docs.aws.amazon.com/amplify/latest/userguide/yml-specification-syntax.html",
  },
  {
    patterns: ["buildspec.yml", "buildspec.yaml"],
    reason: "AWS CodeBuild runs its commands with every build",
    source: "https://docs.aws.amazon.com/codebuild/latest/userguide/build-spec-ref.html",
  },
  {
    patterns: ["appspec.yml", "appspec.yaml", ".ebextensions", ".elasticbeanstalk"],
    reason: "AWS runs its hooks and commands on servers with every deployment",
    source: "https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file.html",
  },
  {
    patterns: [".platform.app.yaml", ".platform", ".upsun"],
    reason: "Platform.sh and Upsun run its hooks with every push",
    source: "https://docs.upsun.com/create-apps",
  },
  {
    patterns: [".do"],
    reason: "DigitalOcean's App Platform deploys as it says",
    source: "https://docs.digitalocean.com/products/app-platform/reference/app-spec",
  },
  {
    patterns: ["renovate.json", "renovate.json5", ".renovaterc", ".renovaterc.json", ".renovaterc.json5"],
    reason: "Renovate opens and merges changes of dependencies as it says",
    source: "https://docs.renovatebot.com/configuration-options",
  },
  {
    patterns: [".mergify.yml", ".mergify", ".kodiak.toml", "bors.toml", ".bulldozer.yml", ".policy.yml"],
    reason: "a bot merges changes when its rules are met",
    source: "https://docs.mergify.com/configuration/file-format",
  },
  {
    patterns: ["Dangerfile", "dangerfile.js", "dangerfile.ts"],
    reason: "Danger runs it for every pull request, with the forge's token",
    source: "https://danger.systems/reference.html",
  },
  {
    patterns: [
      ".coderabbit.yaml",
      ".coderabbit.yml",
      "greptile.json",
      ".sourcery.yaml",
      ".pr_agent.toml",
      ".deepsource.toml",
    ],
    reason: "a bot reviews changes as it says, so that changing it changes what is found",
    source: "https://docs.coderabbit.ai/reference/configuration",
  },
];
