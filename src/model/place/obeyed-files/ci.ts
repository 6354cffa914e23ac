/** Files that servers obey once they are pushed: pipelines, deployments, bots, and who must review what. */
import { obeyedFiles } from "./obeyed-file.ts";

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

const SEMANTIC_RELEASE = ".releaserc* release.config.js release.config.cjs release.config.mjs release.config.ts";

/** Files of pipelines and of forges. */
export const CI_FILES = obeyedFiles({
  "https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax": {
    ".github": {
      reason: "GitHub runs its workflows and actions, and Copilot, Dependabot and other bots follow what stands in it",
      plain: documentsOf(".github"),
    },
  },
  "https://docs.gitlab.com/ci/yaml": { ".gitlab-ci.yml .gitlab-ci.yaml": "GitLab runs it with every push" },
  "https://docs.gitlab.com/user/clusters/agent": {
    ".gitlab": {
      reason: "GitLab takes owners, agents, security policies and routes of its assistant from it",
      plain: [".gitlab/README.md", ".gitlab/issue_templates", ".gitlab/merge_request_templates"],
    },
  },
  "https://forgejo.org/docs/latest/user/actions/reference": {
    ".forgejo .gitea": {
      reason: "Forgejo and Gitea run its workflows",
      plain: [...documentsOf(".forgejo"), ...documentsOf(".gitea")],
    },
  },
  "https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners":
    { CODEOWNERS: "the forge asks those whom it names to review, so that changing it changes who must agree" },
  "https://docs.prow.k8s.io/docs/components/plugins/approve/approvers": {
    // `OWNERS` itself is left out: with case ignored it would take in every directory called `owners`.
    "OWNERS_ALIASES .prow.yaml": "Prow merges with the approval of those whom it names, and runs the jobs in it",
  },
  "https://circleci.com/docs/configuration-reference": { ".circleci": "CircleCI runs it with every push" },
  "https://docs.bitrise.io/en/bitrise-ci/configure-builds/configuration-yaml.html": {
    "bitrise.yml bitrise.yaml .bitrise.yml": "Bitrise runs it with every push",
  },
  "https://docs.pagure.org/copr.copr/user_documentation.html": {
    ".copr": "Copr runs its Makefile to build packages",
  },
  "https://megalinter.io/latest/configuration": {
    ".mega-linter.yml .mega-linter.yaml .megalinter.yml": "MegaLinter runs the commands in it with every push",
  },
  "https://docs.travis-ci.com/user/customizing-the-build": { ".travis.yml": "Travis CI runs it with every push" },
  "https://www.jenkins.io/doc/book/pipeline/jenkinsfile": { Jenkinsfile: "Jenkins runs it with every push" },
  "https://learn.microsoft.com/en-us/azure/devops/pipelines/yaml-schema": {
    "azure-pipelines.yml azure-pipelines.yaml .azure-pipelines .azuredevops .vsts-ci.yml":
      "Azure Pipelines runs it with every push",
  },
  "https://support.atlassian.com/bitbucket-cloud/docs/bitbucket-pipelines-configuration-reference": {
    "bitbucket-pipelines.yml": "Bitbucket runs it with every push",
  },
  "https://docs.drone.io/pipeline/overview": {
    ".drone.yml .drone.yaml .drone.star .drone.jsonnet": "Drone runs it with every push",
  },
  "https://woodpecker-ci.org/docs/usage/workflow-syntax": {
    ".woodpecker .woodpecker.yml .woodpecker.yaml": "Woodpecker runs it with every push",
  },
  "https://www.appveyor.com/docs/appveyor-yml": { "appveyor.yml .appveyor.yml": "AppVeyor runs it with every push" },
  "https://docs.codemagic.io/yaml-basic-configuration/yaml-getting-started": {
    "codemagic.yaml": "Codemagic runs it with every push",
  },
  "https://buildkite.com/docs/pipelines/configure/defining-steps": {
    ".buildkite": "Buildkite runs its pipelines, hooks and plug-ins",
  },
  "https://docs.semaphoreci.com/reference/pipeline-yaml": { ".semaphore": "Semaphore runs it with every push" },
  "https://cloud.google.com/build/docs/build-config-file-schema": {
    "cloudbuild.yaml cloudbuild.yml cloudbuild.json": "Google Cloud Build runs it with every push",
  },
  "https://cirrus-ci.org/guide/writing-tasks": {
    ".cirrus.yml .cirrus.yaml .cirrus.star": "Cirrus CI runs it with every push",
  },
  "https://www.jetbrains.com/help/teamcity/kotlin-dsl.html": {
    ".teamcity": "TeamCity compiles and runs it as its settings",
  },
  "https://codefresh.io/docs/docs/pipelines/introduction-to-codefresh-pipelines": {
    "codefresh.yml .codefresh": "Codefresh runs it with every push",
  },
  "https://docs.cloudbees.com/docs/cloudbees-codeship/latest/pro-builds-and-configuration/steps": {
    "codeship-steps.yml codeship-services.yml": "CodeShip runs it with every push",
  },
  "https://buddy.works/docs/pipelines/yaml": { "buddy.yml .buddy": "Buddy runs it with every push" },
  "https://scrutinizer-ci.com/docs/configuration": {
    "wercker.yml shippable.yml .scrutinizer.yml": "the service runs it with every push",
  },
  "https://docs.screwdriver.cd/user-guide/configuration": { "screwdriver.yaml": "Screwdriver runs it with every push" },
  "https://pipelinesascode.com/docs/guide/authoringprs": { ".tekton": "Pipelines as Code runs it with every push" },
  "https://man.sr.ht/builds.sr.ht": { ".build.yml .builds": "builds.sr.ht runs it with every push" },
  "https://docs.taskcluster.net/docs/reference/integrations/github/taskcluster-yml-v1": {
    ".taskcluster.yml": "Taskcluster runs it with every push",
  },
  "https://zuul-ci.org/docs/zuul/latest/project-config.html": {
    ".zuul.yaml .zuul.d zuul.yaml zuul.d": "Zuul runs its jobs with every change",
  },
  "https://developer.harness.io/docs/platform/git-experience/git-experience-overview": {
    ".harness": "Harness runs its pipelines with every push",
  },
  "https://confluence.atlassian.com/bamboo/bamboo-specs-894743906.html": {
    "bamboo-specs": "Bamboo compiles and runs it as its settings",
  },
  "https://go-vela.github.io/docs/reference/yaml": { ".vela.yml .vela.yaml": "Vela runs it with every push" },
  "https://packit.dev/docs/configuration": {
    ".packit.yaml .packit.yml packit.yaml": "Packit builds and releases as it says",
  },
  "https://www.jenkins.io/doc/book/pipeline": { ".ci": "by custom it holds what a pipeline runs" },
  "https://docs.readthedocs.com/platform/stable/config-file/v2.html": {
    ".readthedocs.yaml .readthedocs.yml readthedocs.yml": "Read the Docs runs the build commands in it with every push",
  },
  "https://docs.netlify.com/build/configure-builds/file-based-configuration": {
    "netlify.toml": "Netlify runs its build command and plug-ins with every push, and `netlify dev` the command in it",
  },
  "https://vercel.com/docs/project-configuration": {
    "vercel.json .vercel": "Vercel runs its build command with every push, and `vercel dev` the command in it",
  },
  "https://render.com/docs/blueprint-spec": {
    "render.yaml": "Render makes services and runs commands from it with every push",
  },
  "https://docs.railway.com/reference/config-as-code": {
    "railway.json railway.toml nixpacks.toml": "Railway builds and starts as it says with every push",
  },
  "https://devcenter.heroku.com/articles/procfile": {
    Procfile: "Heroku and its like run the commands in it with every push",
  },
  "https://developers.cloudflare.com/workers/wrangler/configuration": {
    "wrangler.toml wrangler.json wrangler.jsonc":
      "Cloudflare runs its build command and deploys as it says with every push",
  },
  "https://semantic-release.gitbook.io/semantic-release/usage/configuration": {
    [SEMANTIC_RELEASE]: "semantic-release loads the plug-ins and runs the commands that it names with every push",
  },
  "https://github.com/changesets/changesets/blob/main/docs/config-file-options.md": {
    "**/.changeset/config.json": "changesets loads the module that it names when a pipeline makes a release",
  },
  "https://docs.snyk.io/manage-risk/policies/the-.snyk-file": {
    ".snyk": "Snyk leaves out the weaknesses that it names when it reviews a change",
  },
  "https://devcenter.heroku.com/articles/build-docker-images-heroku-yml": {
    "heroku.yml": "Heroku builds, releases and runs as it says with every push",
  },
  "https://docs.aws.amazon.com/amplify/latest/userguide/yml-specification-syntax.html": {
    "amplify.yml": "AWS Amplify runs its commands with every push",
  },
  "https://docs.aws.amazon.com/codebuild/latest/userguide/build-spec-ref.html": {
    "buildspec.yml buildspec.yaml": "AWS CodeBuild runs its commands with every build",
  },
  "https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file.html": {
    "appspec.yml appspec.yaml .ebextensions .elasticbeanstalk":
      "AWS runs its hooks and commands on servers with every deployment",
  },
  "https://docs.upsun.com/create-apps": {
    ".platform.app.yaml .platform .upsun": "Platform.sh and Upsun run its hooks with every push",
  },
  "https://docs.digitalocean.com/products/app-platform/reference/app-spec": {
    ".do": "DigitalOcean's App Platform deploys as it says",
  },
  "https://docs.renovatebot.com/configuration-options": {
    "renovate.json renovate.json5 .renovaterc .renovaterc.json .renovaterc.json5":
      "Renovate opens and merges changes of dependencies as it says",
  },
  "https://docs.mergify.com/configuration/file-format": {
    ".mergify.yml .mergify .kodiak.toml bors.toml .bulldozer.yml .policy.yml":
      "a bot merges changes when its rules are met",
  },
  "https://danger.systems/reference.html": {
    "Dangerfile dangerfile.js dangerfile.ts": "Danger runs it for every pull request, with the forge's token",
  },
  "https://docs.coderabbit.ai/reference/configuration": {
    ".coderabbit.yaml .coderabbit.yml greptile.json .sourcery.yaml .pr_agent.toml .deepsource.toml":
      "a bot reviews changes as it says, so that changing it changes what is found",
  },
  "https://github.com/projectkudu/kudu/wiki/Customizing-deployments": {
    ".deployment": "Azure runs the command in it with every deployment",
  },
  "https://docs.cpanel.net/knowledge-base/web-services/guide-to-git-deployment": {
    ".cpanel.yml": "cPanel runs its tasks with every deployment",
  },
});
