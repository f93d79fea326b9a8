import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { identityOf, referenceOf, type KubeObject } from '@svc/kube';
import { replaceFile } from '@svc/runtime';
import type { OwnedFields } from './owned-fields.ts';

/** One object as a deploy left it. */
export interface ExpectedObject {
  apiVersion: string;
  kind: string;
  name: string;
  namespace?: string;
  /** From the response to the apply; older versions are ignored. */
  resourceVersion: string;
  owned: OwnedFields;
  /** The applied object, to apply it again; null if drift is only reported, so that no secret is stored. */
  intent: KubeObject | null;
  /** The drift last reported; empty = none. */
  told: string;
  /** Uid of the replacement for a deleted object: the inventory knows only the deleted one. */
  putBackUid?: string;
}

export interface ExpectedProject {
  namespace: string;
  projectId: string;
  objects: ExpectedObject[];
}

/** The state that deploys left in the cluster, one file per project in the agent's state folder (mode 0600). */
export class Expectations {
  readonly #folder: string;
  readonly #projects = new Map<string, ExpectedProject>();
  /** The project of each object: the one that applied it last. */
  readonly #owners = new Map<string, string>();
  #last: Promise<unknown> = Promise.resolve();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(stateDir: string): Promise<Expectations> {
    const folder = join(stateDir, 'expected');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const expectations = new Expectations(folder);
    for (const name of await readdir(folder)) {
      if (!name.endsWith('.json')) continue;
      const project = parsed(await readFile(join(folder, name), 'utf8'));
      if (project !== null) expectations.#take(project);
    }
    return expectations;
  }

  *objects(): Generator<ExpectedObject> {
    for (const { objects } of this.#projects.values()) yield* objects;
  }

  of(project: Pick<ExpectedProject, 'namespace' | 'projectId'>): readonly ExpectedObject[] {
    return this.#projects.get(keyOf(project))?.objects ?? [];
  }

  find(identity: string): { project: ExpectedProject; object: ExpectedObject } | null {
    const project = this.#projects.get(this.#owners.get(identity) ?? '');
    const object = project?.objects.find((each) => identityOf(each) === identity);
    return project === undefined || object === undefined ? null : { project, object };
  }

  /** The project as its last deploy left it; on disk when it resolves. */
  set(project: ExpectedProject): Promise<void> {
    this.#take(project);
    return this.save(project);
  }

  save(project: ExpectedProject): Promise<void> {
    const path = join(this.#folder, `${hashOf(keyOf(project))}.json`);
    const text = JSON.stringify(project);
    const next = this.#last.then(() =>
      project.objects.length === 0 ? rm(path, { force: true }) : replaceFile(path, text),
    );
    this.#last = next.catch(() => undefined);
    return next;
  }

  #take(project: ExpectedProject): void {
    const key = keyOf(project);
    for (const [identity, owner] of this.#owners) if (owner === key) this.#owners.delete(identity);
    if (project.objects.length === 0) {
      this.#projects.delete(key);
      return;
    }
    this.#projects.set(key, project);
    for (const object of project.objects) this.#owners.set(identityOf(object), key);
  }
}

export function keyOf({ namespace, projectId }: Pick<ExpectedProject, 'namespace' | 'projectId'>): string {
  return `${namespace}/${projectId}`;
}

export function expectedObject(object: KubeObject, owned: OwnedFields, intent: KubeObject | null): ExpectedObject {
  return { ...referenceOf(object), resourceVersion: object.metadata.resourceVersion ?? '', owned, intent, told: '' };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function parsed(text: string): ExpectedProject | null {
  try {
    return JSON.parse(text) as ExpectedProject; // only this class writes to the folder
  } catch {
    return null; // the next deploy rewrites it
  }
}
