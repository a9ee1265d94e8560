"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""
