import { pageParameters, type PageQuery } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import { readContent } from './files.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import type { BuildLogLine, DockerfilePlan, NewBuild, Template, TemplateBuild } from './sandbox-types.ts';

/** Longest hold of one request for a log. */
const HELD_MS = 20_000;
const EVERY_MS = 2_000;

/** Options of reading a log. */
export interface BuildLogOptions extends CallOptions {
  /** First line; 0 by default. */
  after?: number | undefined;
  /** Whether to wait for further lines until the build ends. Defaults to true. */
  follow?: boolean | undefined;
}

/**
 * The templates of the workspace: images that are built once and that sandboxes start from.
 *
 * @example
 * ```ts
 * const { templates } = svc.sandboxes;
 * const build = await templates.build('tools', { from: 'debian', steps: [{ run: 'apt-get update' }] });
 * for await (const { message } of templates.logs('tools', build.id)) console.log(message);
 * const sandbox = await svc.sandboxes.create({ template: 'tools' });
 * ```
 */
export class TemplatesClient {
  readonly #transport: SandboxTransport;

  constructor(transport: SandboxTransport) {
    this.#transport = transport;
  }

  /** Lists templates by name, each with its newest build, fetching pages as needed. */
  async *list(page: PageQuery = {}, options: CallOptions = {}): AsyncGenerator<Template, void> {
    let cursor = page.cursor ?? null;
    do {
      const query = pageParameters({ ...page, cursor: cursor ?? undefined });
      const answer = await this.#transport.call<{ templates: Template[]; next_cursor: string | null }>(
        'GET',
        '/templates',
        { query, ...options },
      );
      yield* answer.templates;
      cursor = answer.next_cursor;
    } while (cursor !== null);
  }

  /** Returns a template with its builds, newest first. */
  get(name: string, options: CallOptions = {}): Promise<Template> {
    return this.#transport.call('GET', pathOf(name), options);
  }

  /** Deletes a template with its builds. Sandboxes created from it are not affected. */
  async delete(name: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call('DELETE', pathOf(name), options);
  }

  /** Checks a Dockerfile and returns the sources that its COPY instructions take from the context. */
  plan(
    request: { dockerfile: string; build_args?: Record<string, string> | undefined; target?: string | undefined },
    options: CallOptions = {},
  ): Promise<DockerfilePlan> {
    return this.#transport.call('POST', '/templates/plan', { body: request, ...options });
  }

  /** Whether files with this SHA-256 (hexadecimal) were uploaded. */
  async hasFiles(sha256: string, options: CallOptions = {}): Promise<boolean> {
    const path = `/templates/files/${encodeURIComponent(sha256)}`;
    return (await this.#transport.call<{ present: boolean }>('GET', path, options)).present;
  }

  /** Uploads a tar archive, plain or gzip, with this SHA-256 (hexadecimal). */
  async uploadFiles(
    sha256: string,
    archive: Uint8Array | Blob | ReadableStream<Uint8Array>,
    options: CallOptions = {},
  ): Promise<void> {
    const content = await readContent(archive, 'application/x-tar');
    await this.#transport.call('PUT', `/templates/files/${encodeURIComponent(sha256)}`, { content, ...options });
  }

  /** Starts a build. The template is created if it is new; its tags move to the build when it is ready. */
  build(name: string, request: NewBuild, options: CallOptions = {}): Promise<TemplateBuild> {
    return this.#transport.call('POST', `${pathOf(name)}/builds`, { body: request, ...options });
  }

  /** Returns a build. */
  getBuild(name: string, buildId: string, options: CallOptions = {}): Promise<TemplateBuild> {
    return this.#transport.call('GET', buildPath(name, buildId), options);
  }

  /** Ends a build that is under way. */
  cancelBuild(name: string, buildId: string, options: CallOptions = {}): Promise<TemplateBuild> {
    return this.#transport.call('POST', `${buildPath(name, buildId)}/cancel`, options);
  }

  /** Returns the lines of a build's log, and with `follow` those to come, until the build has ended. */
  async *logs(
    name: string,
    buildId: string,
    { after = 0, follow = true, ...options }: BuildLogOptions = {},
  ): AsyncGenerator<BuildLogLine, void> {
    for (let next = after; ;) {
      const query = { after: next, ...(follow ? { wait_ms: HELD_MS } : {}) };
      const path = `${buildPath(name, buildId)}/logs`;
      const answer = await this.#transport.call<{ lines: BuildLogLine[]; next: number; status: string }>('GET', path, {
        query,
        ...options,
      });
      yield* answer.lines;
      next = answer.next;
      const isOver = answer.status === 'ready' || answer.status === 'error';
      if (answer.lines.length === 0 && (isOver || !follow)) return;
    }
  }

  /** Waits until a build has ended, and returns it. */
  async waitForBuild(name: string, buildId: string, options: CallOptions = {}): Promise<TemplateBuild> {
    for (;;) {
      const build = await this.getBuild(name, buildId, options);
      if (build.status === 'ready' || build.status === 'error') return build;
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      options.signal?.throwIfAborted();
    }
  }

  /** Gives a build a tag. `target` is another tag of the template, or the id of the build. */
  async tag(name: string, tag: string, target: string, options: CallOptions = {}): Promise<void> {
    const path = `${pathOf(name)}/tags/${encodeURIComponent(tag)}`;
    await this.#transport.call('PUT', path, { body: { target }, ...options });
  }

  /** Removes a tag. The image of a build without a tag is removed after an hour. */
  async untag(name: string, tag: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call('DELETE', `${pathOf(name)}/tags/${encodeURIComponent(tag)}`, options);
  }
}

function pathOf(name: string): string {
  return `/templates/${encodeURIComponent(name)}`;
}

function buildPath(name: string, buildId: string): string {
  return `${pathOf(name)}/builds/${encodeURIComponent(buildId)}`;
}
