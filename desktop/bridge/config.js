// Filled in by `linkctl app bridge DIR`: the schemes that the button may open, the app's name, and the page's language
// (null: the visitor's).
export default {
  "schemes": [],
  "name": "",
  "language": null
};
