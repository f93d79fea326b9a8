export { AppError, isAppError, toAppError, type AppErrorOptions } from './app-error.ts';
export { defineErrors, type Catalogue, type CatalogueEntry, type ErrorExtras } from './catalogue.ts';
