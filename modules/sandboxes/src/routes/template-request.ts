import type { Static } from 'typebox';
import type { SandboxesConfig } from '../config.ts';
import type { SandboxResources } from '../domain/driver.ts';
import { shellCommand, type BuildPlan, type BuildStep } from '../domain/templates/build-plan.ts';
import { parseDockerfile } from '../domain/templates/dockerfile.ts';
import type { LogLine, Template, TemplateBuild, TemplateTag } from '../domain/templates/template.ts';
import { sandboxErrors } from '../errors.ts';
import type { BuildBody, buildSchema, logSchema, templateSchema } from './template-schemas.ts';

/** Translates the body of a build. Throws DOCKERFILE_REFUSED and INVALID_FIELD. */
export function toBuildPlan(body: BuildBody): BuildPlan {
  const { dockerfile, from, steps = [], start_command: start, ready_command: ready } = body;
  const given = {
    startCommand: typeof start === 'string' ? shellCommand(start) : (start ?? null),
    readyCommand: ready ?? null,
    initial: null,
    args: body.build_args ?? {},
    noCache: body.no_cache ?? false,
  };
  if (dockerfile === undefined) {
    if (from === undefined) throw invalid('from', 'is required without a Dockerfile');
    for (const name of ['build_args', 'target', 'files'] as const) {
      if (body[name] !== undefined) throw invalid(name, 'needs a Dockerfile');
    }
    return { ...given, stages: [{ name: null, from, line: null, steps: steps.map(toStep) }] };
  }
  if (from !== undefined || steps.length > 0) throw invalid('dockerfile', 'cannot be combined with from and steps');
  const parsed = parseDockerfile(dockerfile, { args: given.args, target: body.target ?? null });
  return {
    ...given,
    stages: withFiles(parsed.stages, body.files ?? []),
    startCommand: given.startCommand ?? parsed.startCommand,
    readyCommand: given.readyCommand ?? parsed.readyCommand,
  };
}

/** The COPY steps of a plan that take uploaded files, in order. */
export function copiesOf({ stages }: Pick<BuildPlan, 'stages'>): Extract<BuildStep, { kind: 'copy' }>[] {
  const steps = stages.flatMap((stage) => stage.steps);
  return steps.filter((step) => step.kind === 'copy').filter(({ from }) => from === null);
}

function withFiles(stages: BuildPlan['stages'], files: readonly string[]): BuildPlan['stages'] {
  const copies = copiesOf({ stages });
  if (copies.length !== files.length) {
    throw invalid('files', `has ${files.length} archives; the Dockerfile copies from ${copies.length}`);
  }
  const archives = new Map<BuildStep, string>(copies.map((copy, index) => [copy, archiveName(files[index] ?? '')]));
  return stages.map((stage) => ({
    ...stage,
    steps: stage.steps.map((step) => (step.kind === 'copy' ? { ...step, files: archives.get(step) ?? null } : step)),
  }));
}

/** The name of an archive whose content was checked. */
export function archiveName(sha256: string): string {
  return `sha256-${sha256}`;
}

function toStep(step: NonNullable<BuildBody['steps']>[number]): BuildStep {
  const place = { line: null, expand: false, force: false };
  if ('run' in step) {
    const { run, user = null } = step;
    const argv = typeof run === 'string' ? shellCommand(run) : run;
    return { ...place, kind: 'run', argv, user, text: `RUN ${typeof run === 'string' ? run : run.join(' ')}` };
  }
  if ('copy' in step) {
    const { sources, destination, owner = null, mode = null, files, from = null } = step.copy;
    if ((files === undefined) === (from === null)) throw invalid('steps', 'copy takes either files or from');
    const copy = { sources, destination, owner, mode, from, files: files === undefined ? null : archiveName(files) };
    return { ...place, ...copy, kind: 'copy', text: `COPY ${sources.join(' ')} ${destination}` };
  }
  if ('env' in step) {
    const variables = Object.entries(step.env);
    return { ...place, kind: 'env', variables, text: `ENV ${variables.map(([name]) => name).join(' ')}` };
  }
  if ('workdir' in step) return { ...place, kind: 'workdir', path: step.workdir, text: `WORKDIR ${step.workdir}` };
  if ('user' in step) return { ...place, kind: 'user', name: step.user, text: `USER ${step.user}` };
  return { ...place, kind: 'expose', ports: step.expose.map(String), text: `EXPOSE ${step.expose.join(' ')}` };
}

/** Throws INVALID_FIELD for more than the configuration allows. */
export function buildResources(
  wanted: NonNullable<BuildBody['resources']>,
  { resources, maximum }: SandboxesConfig,
): SandboxResources {
  for (const name of ['cpu', 'memory_mb', 'disk_mb', 'pids'] as const) {
    if ((wanted[name] ?? 0) > maximum[name]) throw invalid(`resources.${name}`, `at most ${maximum[name]} is allowed`);
  }
  return {
    cpuMillis: Math.round((wanted.cpu ?? resources.cpu) * 1000),
    memoryMb: wanted.memory_mb ?? resources.memory_mb,
    diskMb: wanted.disk_mb ?? resources.disk_mb,
    pids: wanted.pids ?? resources.pids,
  };
}

export function toBuildView({ name }: Template, build: TemplateBuild): Static<typeof buildSchema> {
  const { outcome, resources } = build;
  return {
    id: build.id,
    template_id: build.templateId,
    name,
    status: build.status,
    tags: [...build.tags],
    error: toFailureView(build),
    steps: outcome?.steps ?? null,
    cached_steps: outcome?.cachedSteps ?? null,
    user: outcome?.user ?? null,
    workdir: outcome?.workingFolder ?? null,
    start_command: outcome?.startCommand === null || outcome === null ? null : [...outcome.startCommand],
    ready_command: outcome?.readyCommand ?? null,
    ports: [...(outcome?.ports ?? [])],
    resources: {
      cpu: resources.cpuMillis / 1000,
      memory_mb: resources.memoryMb,
      disk_mb: resources.diskMb,
      pids: resources.pids,
    },
    node: build.node,
    available: build.digest !== null,
    created_at: build.createdAt,
    started_at: build.startedAt,
    finished_at: build.finishedAt,
    archived_at: build.archivedAt,
    archive_error: build.archiveError,
  };
}

export function toTemplateView(
  template: Template,
  tags: readonly TemplateTag[],
  builds: readonly TemplateBuild[],
): Static<typeof templateSchema> {
  const { id, name, createdAt } = template;
  return {
    id,
    name,
    created_at: createdAt,
    tags: tags.map(({ tag, buildId, createdAt: at }) => ({ tag, build_id: buildId, created_at: at })),
    builds: builds.map((build) => toBuildView(template, build)),
  };
}

export function toLogView(lines: readonly LogLine[], build: TemplateBuild, after: number): Static<typeof logSchema> {
  return {
    lines: [...lines],
    next: (lines.at(-1)?.sequence ?? after - 1) + 1,
    status: build.status,
    error: toFailureView(build),
  };
}

function toFailureView({ failure }: TemplateBuild): Static<typeof buildSchema>['error'] {
  return failure === null ? null : { message: failure.message, step: failure.step, line: failure.line };
}

function invalid(field: string, reason: string): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field, reason } });
}
