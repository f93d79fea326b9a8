import type { HttpApp } from '@svc/http';
import type { ManagementDeps } from '../management-deps.ts';
import { registerContentRoutes } from './content-routes.ts';
import { registerDeleteRoutes } from './delete-routes.ts';
import { registerFolderRoutes } from './folder-routes.ts';
import { registerFormRoutes } from './form-routes.ts';
import { registerListRoutes } from './list-routes.ts';
import { registerPresignRoutes } from './presign-routes.ts';
import { registerPutPart } from './upload-part-routes.ts';
import { registerVersionRoutes } from './version-routes.ts';
import { registerUploadRoutes } from './upload-routes.ts';

/** Registers the object routes of the management API. */
export async function registerObjectRoutes(app: HttpApp, management: ManagementDeps): Promise<void> {
  registerListRoutes(app, management);
  registerDeleteRoutes(app, management);
  registerVersionRoutes(app, management);
  registerPresignRoutes(app, management);
  registerFolderRoutes(app, management);
  registerUploadRoutes(app, management);
  // Streaming routes take bodies of every type unparsed, including JSON.
  await app.register(async (streaming: HttpApp) => {
    streaming.removeAllContentTypeParsers();
    streaming.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    registerContentRoutes(streaming, management);
    registerFormRoutes(streaming, management);
    registerPutPart(streaming, management);
  });
}
