"use strict";(()=>{var n="tollbooth-docs-language",t="curl";function e(){try{return localStorage.getItem(n)??t}catch{return t}}document.documentElement.dataset.lang=e();})();
