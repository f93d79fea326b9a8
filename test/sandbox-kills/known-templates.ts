import type { BuildRecord, TemplateRecord } from './api.ts';
import { judgeExistence, type Contents, type Existence } from './known.ts';

export interface KnownTemplate {
  readonly name: string;
  id: string | null;
  existence: Existence;
  /** Oldest first. */
  readonly builds: KnownBuild[];
}

export interface KnownBuild {
  /** A tag of this build alone, besides `latest`. */
  readonly tag: string;
  /** `open`: it is ready, has failed, or never began. */
  end: 'ready' | 'error' | 'open';
  /** Its failure was judged: it is not judged again. */
  isJudged: boolean;
  /** Number of kills of first processes and programs when it was requested, and when its failure was seen. */
  readonly killsBefore: number;
  killsUntil: number;
  /** What sandboxes created from it have. */
  readonly files: ReadonlyMap<string, Contents>;
}

/** Compares with the records; `isExplained` tells whether a kill may have caused the failure of a build. */
export function judgeTemplates(
  templates: readonly KnownTemplate[],
  records: readonly TemplateRecord[],
  isExplained: (build: KnownBuild) => boolean,
): string[] {
  const findings: string[] = [];
  const named = new Map(records.map((record) => [record.name, record]));
  for (const template of templates) {
    const record = named.get(template.name);
    named.delete(template.name);
    findings.push(...judgeExistence(`template ${template.name}`, template, record?.id));
    if (record !== undefined) findings.push(...judgeBuilds(template, record, isExplained));
  }
  for (const name of named.keys()) findings.push(`no client created the template ${name}`);
  return findings;
}

function judgeBuilds(
  template: KnownTemplate,
  { tags, builds }: TemplateRecord,
  isExplained: (build: KnownBuild) => boolean,
): string[] {
  const findings: string[] = [];
  const expectedTags = new Map<string, string>();
  const left = new Set(builds);
  const there: KnownBuild[] = [];
  for (const build of template.builds) {
    const record = builds.find((each) => each.tags.includes(build.tag));
    if (record !== undefined) left.delete(record);
    findings.push(...judgeBuild(`build ${build.tag} of template ${template.name}`, build, record, isExplained));
    if (record === undefined) continue;
    there.push(build);
    if (build.end === 'ready') expectedTags.set(build.tag, record.id).set('latest', record.id);
  }
  template.builds.splice(0, template.builds.length, ...there);
  for (const { id } of left) findings.push(`no client created build ${id} of template ${template.name}`);
  const found = new Map(tags.map((each) => [each.tag, each.build_id]));
  for (const tag of new Set([...found.keys(), ...expectedTags.keys()])) {
    const [is, wanted] = [found.get(tag), expectedTags.get(tag)];
    if (is !== wanted) {
      findings.push(
        `tag ${tag} of template ${template.name} names ${is ?? 'no build'}, expected ${wanted ?? 'no build'}`,
      );
    }
  }
  return findings;
}

function judgeBuild(
  subject: string,
  build: KnownBuild,
  record: BuildRecord | undefined,
  isExplained: (build: KnownBuild) => boolean,
): string[] {
  const { end, isJudged } = build;
  if (record === undefined) return end === 'open' ? [] : [`${subject}, which was ${end}, is gone`];
  const is = record.status === 'ready' && record.available ? 'ready' : 'error';
  build.end = is;
  build.isJudged = true;
  if (end !== 'open' && end !== is) {
    return [`${subject} is ${record.status} (${record.error?.message ?? 'no error'}), expected ${end}`];
  }
  if (end === 'error' && !isJudged && !isExplained(build))
    return [`${subject} failed: ${record.error?.message ?? 'no error'}`];
  return [];
}
