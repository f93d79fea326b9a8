import type { HttpApp } from '@svc/http';
import { Type } from 'typebox';
import type { FileService } from '../../domain/files/file-service.ts';
import { sandboxOf, type EnvdAdmission } from './envd-admission.ts';
import { METADATA_PREFIX, toMetadataView } from './file-metadata.ts';
import { pathOf } from './paths.ts';
import { filesFor } from './users.ts';

const MAX_SOURCES = 1_000;

const path = Type.String({ minLength: 1, maxLength: 4_096 });
const body = Type.Object({
  source_paths: Type.Array(path, { minItems: 1, maxItems: MAX_SOURCES }),
  destination: path,
  username: Type.Optional(Type.String()),
});

export interface ComposeDeps {
  readonly prefix: string;
  readonly admission: EnvdAdmission;
  readonly files: FileService;
}

/** `/files/compose`: puts uploaded parts together into one file, which appears whole or not at all. */
export function registerComposeRoute(app: HttpApp, { prefix, admission, files }: ComposeDeps): void {
  const config = { action: 'sandbox:files-write', grantedEarlier: admission.byToken, answersLate: true } as const;
  app.post(`${prefix}/files/compose`, { config, schema: { hide: true, body } }, async (request) => {
    const sandbox = sandboxOf(request);
    const { source_paths: given, destination, username } = request.body;
    const of = await files.forWriting(sandbox.workspaceUuid, sandbox.id);
    const opened = await filesFor(of, username || null, sandbox);
    const target = pathOf(opened, destination);
    await opened.compose(
      given.map((source) => pathOf(opened, source)),
      target,
    );
    const metadata = toMetadataView((await opened.stat(target, METADATA_PREFIX)).attributes);
    const entry = { name: target.slice(target.lastIndexOf('/') + 1), path: target, type: 'file' };
    return Object.keys(metadata).length === 0 ? entry : { ...entry, metadata };
  });
}
