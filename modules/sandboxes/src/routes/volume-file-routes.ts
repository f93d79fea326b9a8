import type { HttpApp } from '@svc/http';
import { Type } from 'typebox';
import type { FilePlaces } from '../domain/files/file-service.ts';
import { registerFileReadRoutes } from './file-read-routes.ts';
import { registerFileRoutes, target, type FileOwner } from './file-routes.ts';
import { entrySchema, modeText, pathQuery } from './file-schemas.ts';
import { parseMode, toEntryView } from './file-view.ts';
import { registerFileWriteRoutes } from './file-write-routes.ts';
import { ownedVolume, volumeParamsSchema } from './volume-routes.ts';

const PREFIX = '/api/volumes';
/** Sandboxes have users and groups from 0 to this one. */
export const MAX_OWNER = 65_534;

const VOLUME_FILES: FileOwner = {
  noun: 'volume',
  tags: ['volumes'],
  key: 'name',
  params: volumeParamsSchema,
  reads: { action: 'volume:files-read', owned: ownedVolume },
  writes: { action: 'volume:files-write', owned: ownedVolume },
};

/** `/api/volumes/{name}/files`, like the files of a sandbox; whether or not sandboxes mount the volume. */
export async function registerVolumeFileRoutes(app: HttpApp, files: FilePlaces): Promise<void> {
  const options = { prefix: PREFIX, files, owner: VOLUME_FILES };
  registerFileRoutes(app, options);
  registerAttributes(app, files);
  registerFileReadRoutes(app, options);
  await registerFileWriteRoutes(app, options);
}

function registerAttributes(app: HttpApp, files: FilePlaces): void {
  const owner = Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OWNER }));
  app.patch(
    `${PREFIX}/:name/files`,
    {
      config: VOLUME_FILES.writes,
      schema: {
        tags: VOLUME_FILES.tags,
        summary: 'Change the owner and the permissions of a file or directory; follows links',
        params: volumeParamsSchema,
        querystring: pathQuery,
        body: Type.Object(
          { mode: Type.Optional(modeText), uid: owner, gid: owner },
          { additionalProperties: false, minProperties: 1 },
        ),
        response: { 200: entrySchema },
      },
    },
    async (request) => {
      const { of, path } = await target(request, VOLUME_FILES, files);
      const { mode, ...ids } = request.body;
      await of.setAttributes(path, { ...ids, mode: parseMode(mode) });
      return toEntryView(path.slice(0, path.lastIndexOf('/', path.length - 2) + 1), await of.stat(path));
    },
  );
}
